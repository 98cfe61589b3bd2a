import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { PlanRate } from '../../../../src/controller/preemption/make-room.ts';
import { waitsForRoom } from '../../../../src/controller/preemption/waits-for-room.ts';
import { readGangRecord, readPodRecord } from '../../../../src/gang/read-records.ts';

const GATE = 'grove.io/podgang-pending-creation';

const gang = (initialized = 'True', metadata: JsonObject = {}, minReplicas = 2) =>
  readGangRecord({
    metadata: { name: 'g', namespace: 'ns', uid: 'u', ...metadata },
    spec: { podgroups: [{ name: 'worker', minReplicas, podReferences: [] }] },
    status: { conditions: [{ type: 'Initialized', status: initialized }] },
  });

type What = 'unschedulable' | 'untried' | 'gated' | 'bound' | 'leaving' | 'failed' | 'elsewhere' | 'starved';

const pod = (what: What, index: number) => {
  const refused = what === 'unschedulable' || what === 'leaving' || what === 'failed' || what === 'elsewhere';
  const reason = what === 'starved' ? 'SchedulerError' : 'Unschedulable';
  return readPodRecord({
    metadata: {
      name: `g-${index}`,
      namespace: 'ns',
      labels: { 'grove.io/podgang': 'g', 'grove.io/podclique': 'worker' },
      ...(what === 'leaving' && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      schedulerName: what === 'elsewhere' ? 'other' : 'default-scheduler',
      ...(what === 'gated' && { schedulingGates: [{ name: GATE }] }),
      ...(what === 'bound' && { nodeName: 'a' }),
    },
    status: {
      phase: what === 'failed' ? 'Failed' : 'Pending',
      conditions: refused || what === 'starved' ? [{ type: 'PodScheduled', status: 'False', reason }] : [],
    },
  });
};

describe('a gang waits for room', () => {
  const waits = (pods: readonly What[], one = gang()) =>
    waitsForRoom(one, pods.map(pod), 'default-scheduler');

  test.each<[boolean, readonly What[]]>([
    [true, ['unschedulable', 'unschedulable']],
    [true, ['unschedulable', 'untried']],
    [true, ['bound', 'unschedulable']],
    [true, ['unschedulable', 'unschedulable', 'gated']],
    [false, ['untried', 'untried']],
    [false, ['starved', 'starved']],
    [false, ['unschedulable', 'gated']],
    [false, ['unschedulable', 'leaving']],
    [false, ['unschedulable', 'failed']],
    [false, ['unschedulable', 'elsewhere']],
    [false, ['unschedulable']],
    [false, ['bound', 'bound', 'unschedulable']],
    [false, []],
  ])('%s with %j', (expected, pods) => {
    expect(waits(pods)).toBe(expected);
  });

  test('only once it is Initialized, and not while it goes', () => {
    const pods: What[] = ['unschedulable', 'unschedulable'];
    expect(waits(pods, gang('False'))).toBe(false);
    expect(waits(pods, gang('True', { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBe(false);
  });
});

test('so many plans within any minute', () => {
  let now = 0;
  const rate = new PlanRate(2, () => now);
  expect(rate.waitMs()).toBe(0);
  rate.begin();
  now = 20_000;
  rate.begin();
  expect(rate.waitMs()).toBe(40_000);
  now = 60_000;
  expect(rate.waitMs()).toBe(0);
  rate.begin();
  expect(rate.waitMs()).toBe(20_000);
});
