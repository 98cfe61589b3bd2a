import { describe, expect, test } from '@jest/globals';
import { refusalText, type Audience, type Refusal } from '../../../src/preemption/refusal.ts';

/** One of each, about objects of `theirs`, all called `secret…`; a further reason does not compile without its row. */
const theirs = { namespace: 'theirs', name: 'secret' };
const ALL: { readonly [Why in Refusal['why']]: Extract<Refusal, { why: Why }> } = {
  PodsMissing: { why: 'PodsMissing', group: 'worker', count: 5, given: 1 },
  NoNodeLargeEnough: {
    why: 'NoNodeLargeEnough',
    group: 'worker',
    resource: 'nvidia.com/gpu',
    asked: 16,
    largest: { node: 'secret-node', has: 8 },
  },
  NeverPreempts: { why: 'NeverPreempts' },
  RoomBeingMade: { why: 'RoomBeingMade', pod: theirs, node: 'secret-node' },
  NothingBelow: { why: 'NothingBelow', priority: 100 },
  NothingMayGo: { why: 'NothingMayGo', priority: 100 },
  NoSetOfVictims: { why: 'NoSetOfVictims' },
  TopologyUnserved: { why: 'TopologyUnserved' },
  PodUnlikeGroup: { why: 'PodUnlikeGroup', pod: theirs, field: 'priority', has: '10', group: '100' },
  EvictsInVain: { why: 'EvictsInVain', pods: 2, clash: 'theirs/secret does not fit on secret-node' },
  BudgetOverdrawn: { why: 'BudgetOverdrawn', budget: theirs },
  Unreadable: { why: 'Unreadable', object: theirs, words: 'Pod theirs/secret: spec.secret: secret' },
  PreemptsByItself: { why: 'PreemptsByItself', pod: theirs },
  TooManyVictims: { why: 'TooManyVictims', pods: 5, most: 4 },
  TooManyPlans: { why: 'TooManyPlans' },
  EvictionRefused: {
    why: 'EvictionRefused',
    pod: theirs,
    status: 429,
    words: 'evict pods theirs/secret: 429 TooManyRequests: pods "secret" is guarded by secret-budget',
  },
};
const said = (reader: Audience): string[] =>
  Object.values(ALL).map((refusal) => refusalText(refusal, reader));

describe('why no room is made', () => {
  test.each<[string, Audience]>([
    ['the owner of another namespace', { namespace: 'mine' }],
    ['one whose namespace begins with the same', { namespace: 'their' }],
    ['anybody', 'anybody'],
  ])('names nothing of theirs for %s', (_who, reader) => {
    for (const text of said(reader)) {
      expect(text).not.toMatch(/secret|theirs/);
      expect(text).not.toMatch(/ {2}|undefined/);
    }
  });

  test('in the words of each reader', () => {
    expect(said('operator')).toEqual([
      'of 5 Pods that group worker still needs 1 wait for a node',
      'no node is large enough for a Pod of group worker that asks for 16 nvidia.com/gpu: the largest that it may use, secret-node, has 8',
      'its preemption policy is Never',
      'room is being made for theirs/secret on secret-node',
      'nothing that runs has a priority below 100',
      'nothing that runs below priority 100 may be touched',
      'no set of victims makes room for it',
      'kube-scheduler 1.36 preempts for no gang with a topology constraint',
      'kube-scheduler 1.37 tries no group of which a Pod differs: Pod theirs/secret has priority 10, the group 100; give both the same PriorityClass',
      'kube-scheduler 1.37 would evict 2 Pods in vain: theirs/secret does not fit on secret-node',
      'it would fit only if PodDisruptionBudget theirs/secret were overdrawn',
      'Pod theirs/secret: spec.secret: secret',
      'Pod theirs/secret preempts by itself: give it a PriorityClass with preemptionPolicy: Never, and that class the annotation muster.dev/preemption-policy: PreemptLowerPriority',
      '5 Pods would have to go, more than preemption.limits.victimsPerPlan (4)',
      'as many plans were begun within a minute as preemption.limits.plansPerMinute',
      'a victim may not be evicted: evict pods theirs/secret: 429 TooManyRequests: pods "secret" is guarded by secret-budget',
    ]);
    const differing = (reader: Audience): string[] =>
      said(reader).filter((text) => !said('operator').includes(text));
    expect(differing({ namespace: 'theirs' })).toEqual([
      'no node is large enough for a Pod of group worker that asks for 16 nvidia.com/gpu',
      'room is being made for theirs/secret',
      'kube-scheduler 1.37 would evict 2 Pods in vain',
    ]);
    expect(differing({ namespace: 'mine' })).toEqual([
      'no node is large enough for a Pod of group worker that asks for 16 nvidia.com/gpu',
      'room is being made for it',
      'kube-scheduler 1.37 tries no group of which a Pod differs: a Pod of another namespace has priority 10, the group 100; give both the same PriorityClass',
      'kube-scheduler 1.37 would evict 2 Pods in vain',
      'it would fit only if a PodDisruptionBudget of another namespace were overdrawn',
      'an object of another namespace says what cannot be counted with',
      'a Pod of another namespace preempts by itself: give it a PriorityClass with preemptionPolicy: Never, and that class the annotation muster.dev/preemption-policy: PreemptLowerPriority',
      'a victim may not be evicted: it is of another namespace, and the API server answered 429',
    ]);
    expect(differing('anybody')).toEqual([
      'no node is large enough for a Pod of group worker that asks for 16 nvidia.com/gpu',
      'room is being made for it',
      'kube-scheduler 1.37 tries no group of which a Pod differs: a Pod has priority 10, the group 100; give both the same PriorityClass',
      'kube-scheduler 1.37 would evict 2 Pods in vain',
      'it would fit only if a PodDisruptionBudget were overdrawn',
      'an object says what cannot be counted with',
      'a Pod preempts by itself: give it a PriorityClass with preemptionPolicy: Never, and that class the annotation muster.dev/preemption-policy: PreemptLowerPriority',
      'a victim may not be evicted: it is not named here, and the API server answered 429',
    ]);
  });
});
