/** Pods whose PriorityClass is not that of their gang. */
import { describe, expect, test } from '@jest/globals';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import type { GangState, PodRecord } from '../../../../src/gang/records.ts';
import { condition, FULL, gang, INITIALIZED, NOW, pod, state } from './gang-states.ts';

const TYPE = 'PodsNotMatchingPriority';
const of = (priorityClassName: string | undefined, names: readonly string[]): PodRecord[] =>
  names.map((name) => pod(name, { priorityClassName }));
const MEMBERS = ['leader-0', 'workers-0', 'workers-1'];
const classed = (priorityClassName: string | undefined, parts: Parameters<typeof gang>[0] = {}) => {
  const made = gang(parts);
  return { ...made, spec: { ...made.spec, priorityClassName } };
};
const judged = (pods: readonly PodRecord[], of = classed('high'), parts: Partial<GangState> = {}) => {
  const result = planGang(state({ gang: of, pods, ...parts }));
  return {
    said: result.status?.conditions.find(({ type }) => type === TYPE),
    events: result.events.filter(({ reason }) => /Priority/.test(reason)),
  };
};

describe('a gang with Pods of another PriorityClass', () => {
  test('says so in a condition and an Event, before it forms and afterwards', () => {
    const pods = [...of('high', ['leader-0']), ...of('', ['workers-1']), ...of('low', ['workers-0'])];
    const message =
      'Pods workers-0, workers-1 have another PriorityClass than "high", that of the gang: schedulers count a Pod by its own, or refuse the gang; delete them, so that they are made anew, without a priorityClassName in the template';
    const expected = {
      said: { type: TYPE, status: 'True', reason: 'OtherPriorityClass', message },
      events: [{ type: 'Warning', reason: 'OtherPriorityClass', message }],
    };
    expect(judged(pods, classed('high', { groups: FULL }))).toMatchObject(expected);
    const formed = { groups: FULL, conditions: [INITIALIZED] };
    expect(judged(pods, classed('high', formed))).toMatchObject(expected);
    expect(judged(of('low', ['workers-0'])).said?.message).toMatch(
      /^Pod workers-0 has another .* delete it, so /,
    );
  });

  test('whose class was made again with another value: those with the earlier one are told', () => {
    const made = (name: string, priority: number, second: number): PodRecord => ({
      ...pod(name, { priorityClassName: 'high' }),
      priority,
      creationTimestamp: `2026-06-01T11:59:0${second}Z`,
    });
    const pods = [made('leader-0', 700, 1), made('workers-0', 300, 3), made('workers-1', 700, 2)];
    const full = classed('high', { groups: FULL });
    expect(judged(pods, full).said).toMatchObject({
      type: TYPE,
      status: 'True',
      reason: 'OtherPriorityClass',
      message:
        'the PriorityClass "high" was made again with another value, and Pods leader-0, workers-1 have the earlier one: schedulers count a Pod by its own, or refuse the gang; delete them, so that they are made anew',
    });
    expect(
      judged(
        pods.map((one) => ({ ...one, priority: 300 })),
        full,
      ).said,
    ).toBeUndefined();
  });

  test('names the first few of them', () => {
    const names = Array.from({ length: 50 }, (_, index) => `workers-${String(index).padStart(2, '0')}`);
    const message = judged(of('low', names)).said?.message ?? '';
    expect(message).toMatch(/^Pods workers-00, .*workers-07 and 42 more Pods have another/);
    expect(message.length).toBeLessThan(512);
  });

  test('says so once, and that it is over once it is', () => {
    const { said } = judged(of('low', ['workers-0']));
    const told = classed('high', { conditions: said === undefined ? [] : [said], phase: 'Pending' });
    expect(judged(of('low', ['workers-0']), told).events).toEqual([]);
    const message = 'no Pod has another PriorityClass than its gang';
    const over = judged(of('high', MEMBERS), { ...told, spec: { ...told.spec, groups: FULL } });
    expect(over).toMatchObject({
      said: { type: TYPE, status: 'False', reason: 'PriorityClassesAgree', message },
      events: [{ type: 'Normal', reason: 'PriorityClassesAgree', message }],
    });
    const settled = classed('high', { groups: FULL, conditions: over.said === undefined ? [] : [over.said] });
    expect(judged(of('high', MEMBERS), settled).events).toEqual([]);
  });
});

describe('nothing is said of', () => {
  const gone = '2026-06-01T11:59:30Z';
  test.each<[string, PodRecord[], ReturnType<typeof classed>]>([
    ['a gang whose Pods have its class', of('high', MEMBERS), classed('high')],
    ['a gang without a class', of('low', MEMBERS), classed(undefined)],
    ['a gang with an empty one', of('low', MEMBERS), classed('')],
    ['Pods that nobody looked at', of(undefined, MEMBERS), classed('high')],
    [
      'Pods on their way out',
      [pod('workers-0', { priorityClassName: 'low', deletionTimestamp: gone })],
      classed('high'),
    ],
    [
      'Pods that have ended',
      [pod('workers-0', { priorityClassName: 'low', phase: 'Failed' })],
      classed('high'),
    ],
    ['Pods of no group', [pod('workers-0', { priorityClassName: 'low', group: '' })], classed('high')],
  ])('%s', (_, pods, whole) => {
    expect(judged(pods, whole)).toEqual({ said: undefined, events: [] });
  });

  test('a namespace of which not all is known; what was said stays', () => {
    const memoryExceeded = 'too many';
    expect(judged(of('low', MEMBERS), classed('high'), { memoryExceeded }).said).toBeUndefined();
    const told = condition(TYPE, 'True', { reason: 'OtherPriorityClass' });
    const { said } = judged([pod('workers-0')], classed('high', { conditions: [told] }), {
      memoryExceeded,
      now: NOW + 60_000,
    });
    expect(said).toEqual(told);
  });
});
