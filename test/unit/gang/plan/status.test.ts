import { describe, expect, test } from '@jest/globals';
import { mergeConditions } from '../../../../src/gang/plan/conditions.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import {
  FIRST_STATUS_MS,
  FIRST_STATUS_PATIENCE_MS,
  MESSAGE_INTERVAL_MS,
} from '../../../../src/gang/plan/status-write.ts';
import { referencesPatch, statusPatch } from '../../../../src/gang/plan/gang-plan.ts';
import type { GangRecord, GangState, PodRecord } from '../../../../src/gang/records.ts';
import {
  bound,
  condition,
  FULL,
  gang,
  INITIALIZED,
  NOW,
  pod,
  PODS,
  reasons,
  running,
  state,
  written,
} from './gang-states.ts';

const whole = gang({ groups: FULL, conditions: [INITIALIZED] });
const of = (...pods: PodRecord[]) => planGang(state({ gang: whole, pods }));
const free = (name: string, parts: Partial<PodRecord> = {}) => pod(name, { gates: [], ...parts });

describe('conditions and phase from the Pods', () => {
  const rejected = {
    status: 'False',
    reason: 'Unschedulable',
    message: '0/3 nodes are available: 3 Insufficient cpu.',
  };
  const cases: readonly [string, PodRecord[], string, Record<string, [string, string, string]>][] = [
    [
      'released, not bound',
      ['leader-0', 'workers-0', 'workers-1'].map((name) => free(name)),
      'Pending',
      {
        Scheduled: ['False', 'PodsPending', 'bound leader 0/1, workers 0/2'],
        Ready: ['False', 'PodsNotReady', 'ready leader 0/1, workers 0/2'],
        Unhealthy: ['False', 'MinimumPresent', 'every group has its minimum of Pods'],
      },
    ],
    [
      'refused by the scheduler',
      [free('leader-0', { podScheduled: rejected }), bound('workers-0'), bound('workers-1')],
      'Pending',
      {
        Scheduled: [
          'False',
          'Unschedulable',
          'bound leader 0/1; the scheduler says of leader-0: 0/3 nodes are available: 3 Insufficient cpu.',
        ],
      },
    ],
    [
      'bound',
      ['leader-0', 'workers-0', 'workers-1'].map((name) => bound(name)),
      'Starting',
      { Scheduled: ['True', 'PodsBound', 'every group has its minimum of Pods on nodes'] },
    ],
    [
      'ready',
      ['leader-0', 'workers-0', 'workers-1'].map(running),
      'Running',
      { Ready: ['True', 'PodsReady', 'every group has its minimum of Pods ready'] },
    ],
    [
      'done',
      [running('leader-0'), bound('workers-0', { phase: 'Succeeded' }), running('workers-1')],
      'Running',
      { Ready: ['True', 'PodsReady', 'every group has its minimum of Pods ready'] },
    ],
    [
      'one failed',
      [running('leader-0'), bound('workers-0', { phase: 'Failed' }), running('workers-1')],
      // Others of it run.
      'Starting',
      {
        Scheduled: ['False', 'PodsPending', 'bound workers 1/2'],
        Unhealthy: [
          'True',
          'BelowMinimum',
          'fewer Pods than the minimum: workers 1/2; 2 Pods are on nodes, and some schedulers evict a gang below its minimum',
        ],
      },
    ],
  ];
  test.each(cases)('%s', (_what, pods, phase, wanted) => {
    const result = of(...pods);
    expect(result.status?.phase).toBe(phase);
    for (const [type, [status, reason, message]] of Object.entries(wanted)) {
      expect(written(result, type)).toMatchObject({ status, reason, message, observedGeneration: 3 });
    }
  });

  test('a gang below its minimum says so, whatever else is the matter', () => {
    const gone = gang({ groups: FULL, conditions: [INITIALIZED] });
    const result = planGang(
      state({
        gang: {
          ...gone,
          spec: { ...gone.spec, groups: [FULL[0]!, { ...FULL[1]!, podReferences: [] }] },
        },
        pods: [running('leader-0')],
      }),
    );
    expect(written(result, 'Unhealthy')?.status).toBe('True');
    expect(result.summary?.why).toBe(
      'fewer Pods than the minimum: workers 0/2; 1 Pod is on nodes, and some schedulers evict a gang below its minimum',
    );
    expect(result.events).toContainEqual(
      expect.objectContaining({ type: 'Warning', reason: 'BelowMinimum' }),
    );
  });

  test('why each Pod is not running', () => {
    const result = of(
      free('leader-0', { podScheduled: rejected }),
      bound('workers-0'),
      free('workers-1', { podScheduled: { status: 'False', reason: 'SchedulingGated', message: 'gated' } }),
    );
    expect(reasons(result)).toEqual({
      'leader-0': 'the scheduler says: 0/3 nodes are available: 3 Insufficient cpu.',
      'workers-0': 'on node node-1, not ready yet',
      'workers-1': 'waiting for the scheduler',
    });
    const fits = {
      status: 'False',
      reason: 'Schedulable',
      message: 'Pod ml/leader-0 can possibly be assigned',
    };
    expect(
      reasons(of(free('leader-0', { podScheduled: fits }), bound('workers-0', { phase: 'Running' }))),
    ).toEqual({
      'leader-0': 'the scheduler has room for it, and waits for others of the gang',
      'workers-0': 'on node node-1, runs and is not ready: its containers or the node do not answer',
    });
    expect(reasons(of(bound('leader-0', { phase: 'Failed' })))).toEqual({ 'leader-0': 'the Pod has failed' });
  });
});

describe('writing', () => {
  const settled = (pods: PodRecord[]): GangState => {
    const { status } = planGang(state({ gang: whole, pods }));
    return state({
      gang: { ...whole, conditions: status?.conditions ?? [], phase: status?.phase },
      pods,
    });
  };
  const everyone = ['leader-0', 'workers-0', 'workers-1'].map(running);

  test('the same state is written once', () => {
    expect(planGang(settled(everyone))).toMatchObject({
      status: undefined,
      references: undefined,
      events: [],
    });
  });

  test('a change of reason is written at once, a change of words waits', () => {
    const full = { status: 'False', reason: 'Unschedulable', message: 'no room' };
    const pods = [free('leader-0'), bound('workers-0'), bound('workers-1')];
    const before = { ...settled(pods), lastStatusWrite: NOW };
    const refused = [free('leader-0', { podScheduled: full }), ...pods.slice(1)];
    expect(written(planGang({ ...before, pods: refused }), 'Scheduled')?.reason).toBe('Unschedulable');
    const fewer = planGang({ ...before, pods: [free('leader-0'), free('workers-0'), bound('workers-1')] });
    expect(fewer).toMatchObject({ status: undefined, recheckAfterMs: MESSAGE_INTERVAL_MS });
  });

  test('a gang that is new waits for its Pods before it says what is missing', () => {
    const young = (ms: number, parts: Partial<GangState> = {}) =>
      planGang(
        state({ gang: gang({ creationTimestamp: new Date(NOW - ms).toISOString() }), pods: [], ...parts }),
      );
    expect(young(0)).toMatchObject({ status: undefined, recheckAfterMs: FIRST_STATUS_MS });
    expect(young(2_500)).toMatchObject({ status: undefined, recheckAfterMs: 500 });
    expect(written(young(FIRST_STATUS_MS), 'Initialized')?.status).toBe('False');
    const coming = { ...state().backend, objectsExist: false };
    expect(young(0, { pods: PODS, backend: coming }).status).toBeUndefined();
    // A clock that is far from ours says nothing of a gang's age.
    expect(young(-60_000).status).toBeDefined();
  });

  test('and longer while they still come, but not for ever', () => {
    const young = (age: number, newestAge: number) =>
      planGang(
        state({
          gang: gang({ creationTimestamp: new Date(NOW - age).toISOString() }),
          pods: [free('leader-0', { creationTimestamp: new Date(NOW - newestAge).toISOString() })],
        }),
      );
    expect(young(10_000, 1_000)).toMatchObject({ status: undefined, recheckAfterMs: 2_000 });
    expect(young(10_000, FIRST_STATUS_MS).status).toBeDefined();
    expect(young(FIRST_STATUS_PATIENCE_MS - 500, 0)).toMatchObject({
      status: undefined,
      recheckAfterMs: 500,
    });
    expect(young(FIRST_STATUS_PATIENCE_MS, 0).status).toBeDefined();
    // A Pod from a clock ahead of ours.
    expect(young(0, -60_000)).toMatchObject({ status: undefined, recheckAfterMs: FIRST_STATUS_MS });
  });

  test.each<[string, Partial<GangState>]>([
    ['its backend is not ready', { backend: { ...state().backend, ready: false, objectsExist: false } }],
    ['its objects are refused', { backend: { ...state().backend, objectsExist: false, objectsWait: 'no' } }],
    [
      'it is Grove’s no more and has a condition',
      { gang: gang({ conditions: [condition('Other', 'True')] }) },
    ],
  ])('and does not wait with what Pods cannot mend: %s', (_what, parts) => {
    const creationTimestamp = new Date(NOW).toISOString();
    const young = { ...(parts.gang === undefined ? gang() : (parts.gang as GangRecord)), creationTimestamp };
    expect(planGang(state({ pods: [], ...parts, gang: young })).status).toBeDefined();
  });

  test('a phase that is missing is written', () => {
    const still = settled(everyone);
    if (still.gang === 'missing') throw new Error('no gang');
    expect(planGang({ ...still, gang: { ...still.gang, phase: undefined } }).status?.phase).toBe('Running');
  });

  test('lastTransitionTime moves with the status alone', () => {
    const old = [condition('Ready', 'False'), condition('Scheduled', 'True')];
    const wanted = [
      { type: 'Ready', status: 'True', reason: 'PodsReady', message: '' },
      { type: 'Scheduled', status: 'True', reason: 'Other', message: 'new words' },
    ] as const;
    expect(mergeConditions(old, wanted, 9, NOW).map((one) => one.lastTransitionTime)).toEqual([
      '2026-06-01T12:00:00Z',
      '2026-06-01T11:00:00Z',
    ]);
  });

  test('foreign conditions keep their place and their words; ours are there once', () => {
    const foreign = condition('DisruptionTarget', 'True');
    const observed = [condition('Ready', 'True'), foreign, condition('Ready', 'False')];
    const ready = { type: 'Ready', status: 'True', reason: 'PodsReady', message: '' } as const;
    const merged = mergeConditions(observed, [ready], 3, NOW);
    expect(merged.map((one) => one.type)).toEqual(['Ready', 'DisruptionTarget']);
    expect(merged[1]).toBe(foreign);
  });

  test('words wait while Pods are coming, and not for ever', () => {
    const waiting = (ago: number, age: number): GangState => {
      const first = planGang(state({ pods: [] })).status;
      const createdAt = new Date(NOW - age).toISOString();
      return state({
        gang: gang({ conditions: first?.conditions ?? [], phase: 'Pending' }),
        pods: [pod('leader-0', { creationTimestamp: createdAt })],
        lastStatusWrite: NOW - ago,
      });
    };
    expect(planGang(waiting(1000, 60_000))).toMatchObject({
      status: undefined,
      recheckAfterMs: MESSAGE_INTERVAL_MS - 1000,
    });
    expect(planGang(waiting(20_000, 1000))).toMatchObject({ status: undefined, recheckAfterMs: 2000 });
    expect(written(planGang(waiting(20_000, 4000)), 'Initialized')?.message).toBe(
      'waiting for Pods: workers 0/2',
    );
    expect(planGang(waiting(31_000, 0)).status).toBeDefined();
    // A clock ahead of ours: no longer than the patience.
    expect(planGang(waiting(0, -3_600_000)).recheckAfterMs).toBeLessThanOrEqual(30_000);
    expect(planGang({ ...waiting(0, 0), lastStatusWrite: undefined }).status).toBeDefined();
  });

  test('Events: each turn once, with the words of the condition, after the write', () => {
    const before = settled(['leader-0', 'workers-0', 'workers-1'].map((name) => bound(name)));
    const events = planGang({ ...before, pods: everyone }).events;
    expect(events).toEqual([
      {
        on: { kind: 'PodGang', name: 'train', uid: 'uid-train' },
        type: 'Normal',
        reason: 'PodsReady',
        message: 'every group has its minimum of Pods ready',
        after: 'status',
      },
    ]);
    const back = planGang({ ...settled(everyone), pods: [bound('leader-0'), ...everyone.slice(1)] }).events;
    expect(back).toEqual([expect.objectContaining({ type: 'Warning', reason: 'PodsNotReady' })]);
  });

  test('is conditional on what was read, and touches nothing else', () => {
    const status = planGang(state({ gang: gang({ groups: FULL }) })).status!;
    expect(statusPatch(status)).toEqual({
      metadata: { uid: 'uid-train', resourceVersion: '42' },
      status: { phase: 'Pending', conditions: expect.arrayContaining([]) as unknown },
    });
    expect(referencesPatch(planGang(state()).references!)).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'uid-train' },
      { op: 'replace', path: '/metadata/resourceVersion', value: '42' },
      { op: 'test', path: '/spec/podgroups/0/name', value: 'leader' },
      {
        op: 'add',
        path: '/spec/podgroups/0/podReferences',
        value: [{ namespace: 'ml', name: 'leader-0' }],
      },
      { op: 'test', path: '/spec/podgroups/1/name', value: 'workers' },
      {
        op: 'add',
        path: '/spec/podgroups/1/podReferences',
        value: PODS.slice(1).map(({ namespace, name }) => ({ namespace, name })),
      },
    ]);
  });

  test('messages of others are printable and bounded', () => {
    const podScheduled = {
      status: 'False',
      reason: 'Unschedulable',
      message: `\u001b[2J${'x'.repeat(5000)}`,
    };
    const result = of(free('leader-0', { podScheduled }), bound('workers-0'), bound('workers-1'));
    const texts = [written(result, 'Scheduled')?.message, ...result.waiting.map(({ reason }) => reason)];
    for (const text of [...texts, ...result.events.map(({ message }) => message)]) {
      expect(text?.length).toBeLessThanOrEqual(512);
      expect(text).not.toContain('\u001b');
    }
  });
});
