/** What is said of a gang that somebody else moves: whatever is seen of it, and who does, for as long as it waits for that. */
import { describe, expect, test } from '@jest/globals';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import type { GangRecord, GangState } from '../../../../src/gang/records.ts';
import {
  anothers,
  bound,
  FULL,
  gang,
  INITIALIZED,
  nobodys,
  pod,
  PODS,
  running,
  state,
} from './gang-states.ts';

const OTHERS = anothers('Grove moves it');
const { message: notOurs } = OTHERS;
const free = { gates: [] };
const labels = new Map([['app.kubernetes.io/managed-by', 'grove-operator']]);
const forming = gang({ labels });
const whole = gang({ groups: FULL, labels, conditions: [INITIALIZED] });
const said = (parts: Partial<GangState>): string | undefined =>
  planGang(state({ notOurs: OTHERS, gang: forming, ...parts })).summary?.why;

const noRoom = {
  status: 'False',
  reason: 'Unschedulable',
  message: '0/1 nodes are available',
  lastTransitionTime: '2026-06-01T11:59:30Z',
} as const;
const refused = PODS.map((one) => ({ ...one, gates: [], podScheduled: noRoom }));
const base: GangRecord = gang({ name: 'base', groups: FULL.slice(0, 1), conditions: [INITIALIZED] });

describe('why it does not run', () => {
  test.each<[string, Partial<GangState>, string | RegExp]>([
    ['Pods are missing', { pods: PODS.slice(0, 2) }, `waiting for Pods: workers 1/2; ${notOurs}`],
    ['its references are missing', { pods: PODS }, `the references are being written; ${notOurs}`],
    ['its Pods are gated', { gang: whole, pods: PODS }, `bound leader 0/1, workers 0/2; ${notOurs}`],
    [
      'they wait for a base gang',
      {
        gang: whole,
        pods: PODS.map((one) => ({ ...one, baseGang: 'base' })),
        baseGangs: new Map([['base', { gang: base, pods: [], schedulerName: undefined }]]),
      },
      /the base gang "base" is not scheduled: bound leader 0\/1; Grove moves it$/,
    ],
    [
      'one of them is still gated',
      { gang: whole, pods: [bound('leader-0'), ...PODS.slice(1)] },
      /; Grove moves it$/,
    ],
    [
      'all were let go, and the scheduler has no room',
      { gang: whole, pods: refused },
      /^bound leader 0\/1, workers 0\/2; the scheduler says of leader-0: 0\/1 nodes are available$/,
    ],
    [
      'all were let go, and nobody says a word',
      { gang: whole, pods: PODS.map((one) => ({ ...one, ...free })) },
      /^bound leader 0\/1, workers 0\/2; no word of the scheduler yet$/,
    ],
    [
      'Pods of a gang that had formed are lost',
      { gang: whole, pods: [running('leader-0')] },
      /^fewer Pods than the minimum: workers 0\/2.*; Grove moves it$/,
    ],
    [
      'all are replaced while the former ones end: it holds none of them for that',
      {
        gang: whole,
        pods: [...PODS, bound('leader-9', { deletionTimestamp: '2026-06-01T11:59:59Z' })],
        backend: { ...state().backend, countsEnding: true },
      },
      `bound leader 0/1, workers 0/2; ${notOurs}`,
    ],
  ])('%s', (_what, parts, words) => {
    if (typeof words === 'string') expect(said(parts)).toBe(words);
    else expect(said(parts)).toMatch(words);
  });
});

test('of one that runs nothing is said, but which Pods wait beside', () => {
  const pods = [running('leader-0'), running('workers-0'), running('workers-1')];
  expect(said({ gang: whole, pods })).toBe('');
  expect(said({ gang: whole, pods: [...pods, pod('workers-2')] })).toBe(`a Pod waits: workers-2: ${notOurs}`);
});

test.each([
  ['forms', undefined],
  ['had formed', [INITIALIZED]],
])('of one that is not selected only that: it %s, and nobody moves it', (_what, conditions = []) => {
  const unselected = { ...forming, labels: new Map<string, string>(), conditions };
  for (const pods of [[], PODS, PODS.slice(0, 2)])
    expect(said({ gang: unselected, notOurs: nobodys('not selected'), pods })).toBe('not selected');
});

test('of one that is deleted, or not wholly known, only that', () => {
  expect(said({ gang: { ...whole, deletionTimestamp: 'now' } })).toMatch(/^the PodGang is being deleted/);
  expect(said({ gang: whole, memoryExceeded: 'too large' })).toBe(notOurs);
});
