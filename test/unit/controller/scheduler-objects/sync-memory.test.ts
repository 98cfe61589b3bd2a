/** What of a PodGang makes its backend sync again: everything that a backend may go by, and nothing else. */
import { describe, expect, test } from '@jest/globals';
import { comesOrGoes, digestOf } from '../../../../src/controller/scheduler-objects/sync-memory.ts';
import type { GangRecord } from '../../../../src/gang/records.ts';
import { condition, gang, pod } from '../../gang/plan/gang-states.ts';

const before = gang();
const [first] = before.spec.groups;
if (first === undefined) throw new Error('a gang of the tests has a group');
const withGroup = (group: Partial<typeof first>): GangRecord => ({
  ...before,
  generation: before.generation + 1,
  spec: { ...before.spec, groups: [{ ...first, ...group }, ...before.spec.groups.slice(1)] },
});

describe('a gang is synced again', () => {
  test.each<[string, GangRecord]>([
    ['its minimum changes', withGroup({ minReplicas: first.minReplicas + 1 })],
    ['a group is renamed', withGroup({ name: 'other' })],
    ['a label changes, which bumps no generation', gang({ labels: new Map([['team', 'b']]) })],
    ['an annotation changes', gang({ annotations: new Map([['queue', 'b']]) })],
  ])('when %s', (_what, after) => {
    expect(digestOf(after, {})).not.toBe(digestOf(before, {}));
  });

  test.each<[string, GangRecord]>([
    ['status', { ...before, conditions: [condition('Initialized', 'True')], phase: 'Starting' }],
    ['the references', withGroup({ podReferences: [{ namespace: before.namespace, name: 'a-new-pod' }] })],
    ['the resourceVersion', { ...before, resourceVersion: '99999' }],
  ])('but not for %s alone', (_what, after) => {
    expect(digestOf(after, {})).toBe(digestOf(before, {}));
  });

  test('and for the references where its backend follows them', () => {
    const follows = { followsReferences: () => true };
    const after = withGroup({ podReferences: [{ namespace: before.namespace, name: 'a-new-pod' }] });
    expect(digestOf(after, follows)).not.toBe(digestOf(before, follows));
  });
});

test.each<[string, ReturnType<typeof pod> | undefined, ReturnType<typeof pod> | undefined, boolean]>([
  ['it comes', undefined, pod('w-0'), true],
  ['it goes', pod('w-0'), undefined, true],
  ['it has failed', pod('w-0'), pod('w-0', { phase: 'Failed' }), true],
  ['it is on its way out', pod('w-0'), pod('w-0', { deletionTimestamp: 'now' }), true],
  ['it is on a node', pod('w-0'), pod('w-0', { nodeName: 'node-1' }), false],
  ['it comes and has ended', undefined, pod('w-0', { phase: 'Succeeded' }), false],
  ['it goes after it has ended', pod('w-0', { phase: 'Failed' }), undefined, false],
])('a gang has one Pod more or less to count: %s', (_what, old, now, isOther) => {
  expect(comesOrGoes({ old, new: now } as never)).toBe(isOther ? 'ml/train' : undefined);
});
