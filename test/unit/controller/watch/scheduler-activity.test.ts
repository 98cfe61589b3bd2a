/** What Pods show of the schedulers that have to place them. */
import { expect, test } from '@jest/globals';
import { SchedulerActivity } from '../../../../src/controller/watch/scheduler-activity.ts';
import type { PodRecord, PodScheduled } from '../../../../src/gang/records.ts';
import { Cache } from '../../../../src/kube/loop/cache.ts';
import { bound, pod } from '../../gang/plan/gang-states.ts';

const said = (reason: string): PodScheduled => ({ status: 'False', reason, message: 'words' });

function watching() {
  const store = new Cache<PodRecord>();
  const clock = { now: 1_000_000 };
  const names: Record<string, string> = { kai: 'kai-scheduler', volcano: 'volcano' };
  const registry = {
    enabled: ['kai-scheduler', 'volcano'],
    resolve: (name: string) => (names[name] === undefined ? undefined : { backend: { name: names[name] } }),
  };
  const activity = new SchedulerActivity(registry as never, () => clock.now);
  let version = 100;
  return {
    clock,
    put: (record: PodRecord): void => {
      version += 1;
      for (const change of store.put({ schedulerName: 'kai', ...record, resourceVersion: String(version) }))
        activity.changed(change);
    },
    remove: (name: string): void => {
      for (const change of store.forget('ml', name)) activity.changed(change);
    },
    shown: (): unknown => Object.fromEntries(activity.numbers()),
  };
}
const shows = (oldestUnseenMs: number, lastBoundAt = 0): object => ({
  'kai-scheduler': { oldestUnseenMs, lastBoundAt },
  volcano: { oldestUnseenMs: 0, lastBoundAt: 0 },
});

test('a Pod is unseen from its last gate on until its scheduler binds it', () => {
  const { clock, put, shown } = watching();
  put(pod('a'));
  clock.now += 5_000;
  expect(shown()).toEqual(shows(0));
  put(pod('a', { gates: [] }));
  clock.now += 5_000;
  // Another event of it changes nothing.
  put(pod('a', { gates: [], podScheduled: said('SchedulingGated') }));
  clock.now += 2_000;
  expect(shown()).toEqual(shows(7_000));
  put(bound('a'));
  expect(shown()).toEqual(shows(0, 1_012_000));
  clock.now += 60_000;
  put(bound('a', { phase: 'Running' }));
  expect(shown()).toEqual(shows(0, 1_012_000));
});

test('the oldest counts; a word of the scheduler, its end and its deletion end it', () => {
  const { clock, put, remove, shown } = watching();
  for (const name of ['a', 'b', 'c', 'd']) {
    put(pod(name, { gates: [] }));
    clock.now += 1_000;
  }
  expect(shown()).toEqual(shows(4_000));
  put(pod('a', { gates: [], podScheduled: said('Unschedulable') }));
  expect(shown()).toEqual(shows(3_000));
  put(pod('b', { gates: [], phase: 'Failed' }));
  expect(shown()).toEqual(shows(2_000));
  put(pod('c', { gates: [], deletionTimestamp: '2026-06-01T12:00:00Z' }));
  expect(shown()).toEqual(shows(1_000));
  remove('d');
  expect(shown()).toEqual(shows(0));
});

test('Pods of schedulers that are not enabled do not count, nor those that were bound before', () => {
  const { clock, put, shown } = watching();
  put(pod('a', { gates: [], schedulerName: 'another' }));
  put(pod('b', { gates: [], schedulerName: undefined }));
  put(bound('c'));
  put(pod('d', { gates: ['example.com/quota'] }));
  clock.now += 9_000;
  expect(shown()).toEqual(shows(0));
});
