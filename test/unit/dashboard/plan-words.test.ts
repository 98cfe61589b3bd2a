/** A plan in the words of the page. */
import { expect, test } from '@jest/globals';
import { planWords, unitName } from '../../../src/dashboard/page/plan-words.ts';
import type { PlanAnswer, PlannedGang } from '../../../src/dashboard/wire.ts';

const victim = (name: string, violatesPDB: boolean): PlannedGang['victims'][number] => ({
  ...{ unit: 'Pod', namespace: 'ml', name, priority: 0, pods: [`ml/${name}`], violatesPDB, why: '' },
});
const words = (
  plan: Partial<PlannedGang> | null,
  says = 'gang ml/train fits as it is',
): readonly string[] => {
  const none = {
    variant: 'kep' as const,
    fits: false,
    feasible: false,
    placement: {},
    victims: [],
    awaited: [],
    rejected: [],
  };
  const whole: PlanAnswer['plan'] = plan && { ...none, ...plan };
  return planWords({ at: '2026-01-01T00:00:00Z', says, plan: whole }).slice(plan === null ? 0 : 1);
};

test('the verdict is a sentence, and where there is no plan it is all', () => {
  expect(words(null)).toEqual(['Gang ml/train fits as it is.']);
  expect(words({})).toEqual([]);
});

test('PodDisruptionBudgets that would be broken are counted', () => {
  expect(words({ victims: [victim('a', false)] })).toEqual([]);
  expect(words({ victims: [victim('a', true), victim('b', false)] })).toEqual([
    'One of those who would make room would break a PodDisruptionBudget.',
  ]);
  expect(words({ victims: [victim('a', true), victim('b', true)] })).toEqual([
    '2 of those who would make room would break a PodDisruptionBudget.',
  ]);
});

test('Pods on their way out are named, as far as they are read', () => {
  expect(words({ awaited: ['ml/a', 'ml/b'] })).toEqual(['On the way out already: ml/a, ml/b.']);
  expect(words({ awaited: ['a', 'b', 'c', 'd', 'e', 'f'] })).toEqual([
    'On the way out already: a, b, c, d and 2 more.',
  ]);
});

test('the largest gang that fits has its groups, and Pods of no group their number', () => {
  expect(words({ largest: { leader: 1, worker: 2 } })).toEqual([
    'The largest gang of this shape that fits now: leader 1, worker 2.',
  ]);
  expect(words({ largest: { '': 1 } })).toEqual(['The largest gang of this shape that fits now: 1 Pod.']);
  expect(words({ largest: { '': 3 } })).toEqual(['The largest gang of this shape that fits now: 3 Pods.']);
});

test('warnings stand last', () => {
  expect(words({ warnings: ['node n1 has no status.allocatable'], awaited: ['ml/a'] })).toEqual([
    'On the way out already: ml/a.',
    'Warning: node n1 has no status.allocatable.',
  ]);
});

test.each([
  ['Pod', 'Pod ml/x'],
  ['PodGang', 'gang ml/x'],
  ['PodGroup', 'PodGroup ml/x'],
])('a unit that is a %s is called %s', (unit, called) => {
  expect(unitName({ unit, namespace: 'ml', name: 'x' })).toBe(called);
});
