import { describe, expect, test } from '@jest/globals';
import { takesOutTheLiving } from '../../../../src/gang/plan/plan-references.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import type { PodRecord } from '../../../../src/gang/records.ts';
import {
  anothers,
  bound,
  FULL,
  gang,
  group,
  INITIALIZED,
  pod,
  PODS,
  reasons,
  referencesOf,
  released,
  state,
  written,
} from './gang-states.ts';

const backend = {
  name: 'default-scheduler',
  schedulerName: 'default-scheduler',
  ready: true,
  objectsExist: true,
  releaseOrder: 'all-at-once',
} as const;
const ours = (one: PodRecord): PodRecord => ({ ...one, schedulerName: 'default-scheduler' });
const theirs = (one: PodRecord): PodRecord => ({ ...one, schedulerName: 'kai-scheduler' });
const torn = [theirs(pod('leader-0')), ours(pod('workers-0')), ours(pod('workers-1'))];
const whole = gang({ groups: FULL, conditions: [INITIALIZED] });

const OF_POD =
  'it is prepared for scheduler "kai-scheduler", its gang is served by backend default-scheduler: delete the Pod, so that it is made anew, without a schedulerName in its template';
const OF_GANG =
  'Pod leader-0 is prepared for scheduler "kai-scheduler", the gang is served by backend default-scheduler: delete it, so that it is made anew, without a schedulerName in the template';

describe('a gang with a Pod of another scheduler', () => {
  test('is not complete with it, and says why', () => {
    const result = planGang(state({ pods: torn, backend }));
    expect(result).toMatchObject({ references: undefined, ungate: [] });
    const why = `waiting for Pods: leader 0/1; ${OF_GANG}`;
    expect(written(result, 'Initialized')).toMatchObject({ status: 'False', message: why });
    expect(result.summary?.why).toBe(why);
    expect(reasons(result)).toEqual({ 'leader-0': OF_POD, 'workers-0': why, 'workers-1': why });
    expect(result.events).toContainEqual(
      expect.objectContaining({
        on: { kind: 'Pod', name: 'leader-0', uid: 'uid-leader-0' },
        type: 'Warning',
        reason: 'SchedulerMismatch',
        message: OF_POD,
      }),
    );
    expect(result.summary?.groups[0]).toMatchObject({ present: 0, referenced: 0, gated: 1 });
  });

  test('that refers to it is not Initialized, and takes it out', () => {
    const result = planGang(state({ gang: gang({ groups: FULL }), pods: torn, backend }));
    expect(referencesOf(result)).toEqual({ leader: [] });
    expect(result).toMatchObject({ status: undefined, ungate: [] });
  });

  test('that was Initialized before holds all its Pods, and says why', () => {
    const groups = [group('leader', 1), FULL[1]!];
    const result = planGang(
      state({ gang: gang({ groups, conditions: [INITIALIZED] }), pods: torn, backend }),
    );
    expect(released(result)).toEqual([]);
    expect(reasons(result)).toEqual({ 'leader-0': OF_POD, 'workers-0': OF_GANG, 'workers-1': OF_GANG });
    expect(written(result, 'Scheduled')).toMatchObject({
      status: 'False',
      reason: 'SchedulerMismatch',
      message: `bound leader 0/1, workers 0/2; ${OF_GANG}`,
    });
    expect(result.summary?.why).toBe(`fewer Pods than the minimum: leader 0/1; ${OF_GANG}`);
  });

  test('holds what comes later also while that Pod runs elsewhere', () => {
    const free = theirs(bound('leader-0', { phase: 'Running', ready: true }));
    const result = planGang(state({ gang: whole, pods: [free, ...torn.slice(1)], backend }));
    expect(released(result)).toEqual([]);
    expect(result.summary?.groups[0]).toMatchObject({ present: 0, bound: 0, ready: 0 });
    expect(result.waiting).toContainEqual({
      pod: 'leader-0',
      group: 'leader',
      state: 'misplaced',
      reason: OF_POD,
    });
    expect(result.violations).toEqual([]);
  });

  test('goes on without it where nobody is missed', () => {
    const pods = [...PODS.map(ours), theirs(pod('workers-2'))];
    const result = planGang(state({ gang: whole, pods, backend }));
    expect(released(result)).toEqual(['leader-0', 'workers-0', 'workers-1']);
    expect(reasons(result)).toEqual({ 'workers-2': OF_POD });
    expect(result.references).toBeUndefined();
  });

  test('names three of many', () => {
    const groups = [group('leader', 1), group('workers', 9)];
    const many = Array.from({ length: 9 }, (_, index) => theirs(pod(`workers-${index}`)));
    const result = planGang(
      state({ gang: gang({ groups }), pods: [ours(pod('leader-0')), ...many], backend }),
    );
    expect(result.summary?.why).toBe(
      'waiting for Pods: workers 0/9; Pods workers-0, workers-1, workers-2 and 6 more Pods are prepared for scheduler "kai-scheduler", the gang is served by backend default-scheduler: delete them, so that they are made anew, without a schedulerName in the template',
    );
  });

  test('has no turn for it, and gives it no place', () => {
    const order = { ...backend, releaseOrder: 'minimum-first' } as const;
    const groups = [group('leader', 1, 'leader-0'), group('workers', 1, 'workers-1')];
    const pods = [ours(pod('leader-0')), theirs(bound('workers-0')), ours(pod('workers-1'))];
    const formed = gang({ groups, conditions: [INITIALIZED] });
    expect(released(planGang(state({ gang: formed, pods, backend: order })))).toEqual([
      'leader-0',
      'workers-1',
    ]);
  });

  test('is no base gang that is scheduled', () => {
    const base = gang({ name: 'base', groups: [group('a', 1)] });
    const pods = PODS.map((one) => ours({ ...one, baseGang: 'base' }));
    const result = (schedulerName: string) =>
      planGang(
        state({
          gang: whole,
          pods,
          backend,
          baseGangs: new Map([
            ['base', { gang: base, pods: [theirs(bound('a-0', { gang: 'base' }))], schedulerName }],
          ]),
        }),
      );
    expect(released(result('default-scheduler'))).toEqual([]);
    expect(released(result('kai-scheduler'))).toHaveLength(3);
  });

  test('is judged by nobody here where it is another’s, and not where the scheduler is not known', () => {
    const grove = planGang(state({ gang: whole, pods: torn, backend, notOurs: anothers('Grove’s') }));
    expect([released(grove), grove.events]).toEqual([[], []]);
    expect(grove.summary?.groups[0]?.present).toBe(1);
    expect(released(planGang(state({ gang: whole, pods: torn })))).toHaveLength(3);
  });
});

test.each<[string, PodRecord[], boolean]>([
  ['gone', [], false],
  ['there', [ours(pod('leader-0'))], true],
  ['of another scheduler', [theirs(pod('leader-0'))], false],
  ['terminating', [ours(pod('leader-0', { deletionTimestamp: 'now' }))], false],
  ['of another gang', [ours(pod('leader-0', { gang: 'other' }))], false],
  ['of another group', [ours(pod('leader-0', { group: 'workers' }))], false],
])('a name is not taken out while its Pod lives: %s', (_what, pods, living) => {
  const dropped = [{ group: 'leader', pod: 'leader-0' }];
  expect(takesOutTheLiving(whole, 'default-scheduler', dropped, pods)).toBe(living);
});
