import { describe, expect, test } from '@jest/globals';
import { gangChange, podChanges } from '../../../../src/cli/status/changes.ts';
import { bound, FULL, gang, INITIALIZED, pod, PODS, running, statusOf } from './gangs.ts';

const waiting = statusOf([gang()], [pod('workers-0')]);
const free = PODS.map((one) => ({ ...one, gates: [] }));
const initialized = gang({ groups: FULL, conditions: [INITIALIZED] });
const released = statusOf([initialized], free);
const ready = statusOf(
  [initialized],
  PODS.map(({ name }) => running(name)),
);
const between = (old: typeof waiting | undefined, now: typeof waiting | undefined) => ({
  namespace: 'ml',
  name: 'train',
  old,
  new: now,
});

describe('what happened to a gang', () => {
  test.each([
    ['it is there', undefined, waiting, 'new: Pending, waiting for Pods: leader 0/1, workers 1/2'],
    ['another Pod', waiting, statusOf([gang()], PODS.slice(1)), 'gates 1 → 2: waiting for Pods: leader 0/1'],
    [
      'gates come off',
      waiting,
      released,
      'Initialized, gates 1 → 0: bound leader 0/1, workers 0/2; no word of the scheduler yet',
    ],
    ['all is well', released, ready, 'phase Pending → Running, groups 0/2 → 2/2, pods 0/3 → 3/3'],
    ['nothing that the table shows', ready, { ...ready, pods: [] }, ''],
    ['created anew', ready, { ...ready, creationTimestamp: '2026-06-01T12:01:00Z' }, 'PodGang created'],
    [
      'Pods first',
      statusOf([], PODS),
      waiting,
      'PodGang created, phase - → Pending, groups - → 0/2, pods - → 0/3, gates 3 → 1, backend - → (default): waiting for Pods: leader 0/1, workers 1/2',
    ],
    ['deleted', ready, undefined, 'deleted'],
    ['the PodGang alone deleted', ready, statusOf([], PODS), 'PodGang deleted, its Pods are still there'],
  ])('%s', (_, old, now, says) => {
    expect(gangChange(between(old, now))).toBe(says);
  });
});

describe('what happened to its Pods', () => {
  test('those that went the same way come together', () => {
    const after = [...free.slice(0, 1).map(({ name }) => bound(name)), ...free.slice(1), pod('workers-3')];
    const gated = statusOf([gang()], PODS.slice(0, 2));
    expect(podChanges(between(gated, statusOf([initialized], after)))).toEqual([
      'leader-0: gated → starting (on node node-1, not ready yet)',
      'workers-0: gated → pending (waiting for the scheduler)',
      'workers-1: new, pending (waiting for the scheduler)',
      'workers-3: new, gated (not yet in the references of group workers)',
    ]);
    expect(podChanges(between(released, ready))).toEqual([
      'leader-0, workers-0, workers-1: pending → running on node-1',
    ]);
  });

  test('another reason, and the end', () => {
    const said = { status: 'False', reason: 'Unschedulable', message: 'no room' };
    const refused = free.map((one) => ({ ...one, podScheduled: said }));
    expect(podChanges(between(released, statusOf([initialized], refused.slice(1))))).toEqual([
      'workers-0, workers-1: pending (the scheduler says: no room)',
      'leader-0: deleted',
    ]);
  });

  test('a gang of hundreds', () => {
    const many = Array.from({ length: 300 }, (_, index) => pod(`workers-${index}`));
    expect(podChanges(between(undefined, statusOf([gang()], many)))).toEqual([
      'workers-0, workers-1, workers-2, workers-3, workers-4, workers-5, workers-6, workers-7 and 292 more Pods: new, gated (waiting for Pods: leader 0/1)',
    ]);
  });
});
