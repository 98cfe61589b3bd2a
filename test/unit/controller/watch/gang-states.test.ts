/** Gangs by what their conditions say, counted at each event. */
import { expect, test } from '@jest/globals';
import { CONDITION_REASONS } from '../../../../src/gang/plan/conditions.ts';
import { GangStates } from '../../../../src/controller/watch/gang-states.ts';
import type { GangRecord } from '../../../../src/gang/records.ts';
import { Cache } from '../../../../src/kube/loop/cache.ts';
import { WAIT_REASONS, type GangCounts } from '../../../../src/telemetry/gang-metrics.ts';
import { LoopMetrics } from '../../../../src/telemetry/loop-metrics.ts';
import { observeExposition } from '../../../support/observed.ts';
import { condition, gang, NOW } from '../../gang/plan/gang-states.ts';

const minutesAgo = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const conditions = (
  initialized: [status: string, reason?: string, minutes?: number],
  scheduled?: [status: string, reason?: string, minutes?: number],
  ready?: string,
): Pick<GangRecord, 'conditions'> => {
  const told = (type: string, [status, reason = 'Because', minutes = 1]: [string, string?, number?]) =>
    condition(type, status, { reason, lastTransitionTime: minutesAgo(minutes) });
  return {
    conditions: [
      told('Initialized', initialized),
      ...(scheduled === undefined ? [] : [told('Scheduled', scheduled)]),
      ...(ready === undefined ? [] : [told('Ready', [ready])]),
    ],
  };
};

function counting(standing: readonly string[] = []) {
  const store = new Cache<GangRecord>();
  const standstill = (namespace: string): string | undefined =>
    standing.includes(namespace) ? 'too large' : undefined;
  const states = new GangStates({ gangs: store, standstill }, () => NOW);
  let version = 100;
  const put = (parts: Parameters<typeof gang>[0] = {}): void => {
    version += 1;
    const uid = `uid-${parts.namespace ?? 'ml'}-${parts.name ?? 'train'}`;
    const record = gang({ uid, ...parts, resourceVersion: String(version) });
    for (const change of store.put(record)) states.changed(change);
  };
  const remove = (name: string): void => {
    for (const change of store.forget('ml', name)) states.changed(change);
  };
  return { put, remove, numbers: (): GangCounts => states.numbers() };
}

test.each<[string, Parameters<typeof gang>[0], object]>([
  ['no status yet', {}, { state: 'waiting', reason: 'other', minutes: 2 }],
  [
    'Initialized False',
    { creationTimestamp: minutesAgo(30), ...conditions(['False', 'BackendNotReady', 1]) },
    { state: 'waiting', reason: 'BackendNotReady', minutes: 30 },
  ],
  [
    'a reason of another’s',
    conditions(['False', 'Whatever']),
    { state: 'waiting', reason: 'other', minutes: 2 },
  ],
  [
    'held once more',
    conditions(['True', 'PodGangPodsCreated', 90], ['False', 'NextGenerationForming', 7]),
    { state: 'waiting', reason: 'NextGenerationForming', minutes: 7 },
  ],
  [
    'released, and never scheduled',
    conditions(['True', 'PodGangPodsCreated', 5], ['False', 'PodsPending', 30]),
    { state: 'released', unscheduled: 5 },
  ],
  [
    'released, and not scheduled any more',
    conditions(['True', 'PodGangPodsCreated', 50], ['False', 'Unschedulable', 3]),
    { state: 'released', unscheduled: 3 },
  ],
  ['nobody says whether it is scheduled', conditions(['True']), { state: 'released' }],
  ['scheduled', conditions(['True'], ['True'], 'False'), { state: 'scheduled' }],
  ['ready', conditions(['True'], ['True'], 'True'), { state: 'ready' }],
  ['ended', { phase: 'Succeeded', ...conditions(['True'], ['True'], 'True') }, { state: 'ended' }],
  ['failed before it began', { phase: 'Failed', ...conditions(['False']) }, { state: 'ended' }],
  ['being deleted', { deletionTimestamp: minutesAgo(1) }, { state: 'deleting' }],
])('%s', (_, parts, expected) => {
  const { put, numbers } = counting();
  put(parts);
  const { states, waiting, oldestUnscheduledMs } = numbers();
  const [state] = [...states].filter(([, count]) => count > 0).map(([name]) => name);
  const [reason, { oldestMs = 0 } = {}] = [...waiting][0] ?? [];
  expect({
    state,
    ...(reason === undefined ? {} : { reason, minutes: oldestMs / 60_000 }),
    ...(oldestUnscheduledMs === 0 ? {} : { unscheduled: oldestUnscheduledMs / 60_000 }),
  }).toEqual(expected);
});

test('a gang that goes on leaves its state, one that is deleted all of them; the oldest counts', () => {
  const { put, remove, numbers } = counting(['still']);
  put({ name: 'a', creationTimestamp: minutesAgo(10) });
  put({ name: 'b', creationTimestamp: minutesAgo(20) });
  put({ name: 'c', creationTimestamp: 'never' });
  put({ name: 'd', namespace: 'still', ...conditions(['True'], ['True'], 'True') });
  expect(Object.fromEntries(numbers().states)).toEqual({ waiting: 3, ready: 1 });
  expect(numbers().waiting.get('other')).toEqual({ count: 3, oldestMs: 20 * 60_000 });
  expect(numbers().standingStill).toBe(1);
  put({ name: 'b', ...conditions(['True'], ['False', 'PodsPending', 4]) });
  remove('c');
  expect(Object.fromEntries(numbers().states)).toEqual({ waiting: 1, released: 1, ready: 1 });
  expect(numbers().waiting.get('other')).toEqual({ count: 1, oldestMs: 10 * 60_000 });
  expect(numbers().oldestUnscheduledMs).toBe(60_000);
  remove('b');
  remove('a');
  expect(numbers()).toMatchObject({ waiting: new Map(), oldestUnscheduledMs: 0 });
});

test('a scrape shows them', async () => {
  const { put, numbers } = counting(['still']);
  put({ name: 'a', ...conditions(['False', 'BackendNotReady']), creationTimestamp: minutesAgo(10) });
  put({ name: 'd', namespace: 'still', ...conditions(['True'], ['False', 'PodsPending', 4]) });
  const metrics = new LoopMetrics();
  metrics.gangs.gangs = numbers;
  const text = await metrics.expose();
  observeExposition(text);
  expect(text.split('\n').filter((line) => /^muster_gang.* [^0]/.test(line))).toEqual([
    'muster_gangs{state="waiting"} 1',
    'muster_gangs{state="released"} 1',
    'muster_gangs_waiting{reason="BackendNotReady"} 1',
    'muster_gang_oldest_waiting_seconds{reason="BackendNotReady"} 600',
    'muster_gang_oldest_unscheduled_seconds 60',
    'muster_gangs_standing_still 1',
  ]);
});

test('every reason with which Muster holds a gang is one of the metric', () => {
  const holds = [...CONDITION_REASONS.Initialized, ...CONDITION_REASONS.Scheduled].filter(
    (reason) =>
      !['PodGangPodsCreated', 'NotInitialized', 'Unschedulable', 'PodsPending', 'PodsBound'].includes(reason),
  );
  expect(WAIT_REASONS.filter((reason) => reason !== 'other').toSorted()).toEqual(
    [...new Set(holds)].toSorted(),
  );
});
