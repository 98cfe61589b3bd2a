import { describe, expect, test } from '@jest/globals';
import { ANNOTATION_EXPECTED_PODS } from '../../../../src/api/names.ts';
import { expectedPods } from '../../../../src/gang/expected-pods.ts';
import { EMPTY_GANG_PLAN } from '../../../../src/gang/plan/gang-plan.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import {
  anothers,
  condition,
  FULL,
  gang,
  group,
  INITIALIZED,
  nobodys,
  pod,
  PODS,
  reasons,
  referencesOf,
  running,
  state,
  written,
} from './gang-states.ts';

const initializedOf = (...args: Parameters<typeof state>) => written(planGang(state(...args)), 'Initialized');

describe('references', () => {
  test('are written in one go, sorted, once every group has its Pods', () => {
    const result = planGang(state({ pods: [...PODS].reverse() }));
    expect(referencesOf(result)).toEqual({ leader: ['leader-0'], workers: ['workers-0', 'workers-1'] });
    expect(result.references).toMatchObject({ uid: 'uid-train', resourceVersion: '42' });
    // The next step waits until this one is seen.
    expect(result.status).toBeUndefined();
    expect(result.ungate).toEqual([]);
    expect(result.events).toEqual([
      expect.objectContaining({
        reason: 'ReferencesUpdated',
        message: 'refers to: leader 1 (+1), workers 2 (+2)',
        after: 'references',
      }),
    ]);
  });

  test.each([
    ['too few Pods', [pod('leader-0'), pod('workers-0')]],
    ['none at all', []],
    [
      'a terminating Pod',
      [pod('leader-0'), pod('workers-0'), pod('workers-1', { deletionTimestamp: 'now' })],
    ],
    ['a failed Pod', [pod('leader-0'), pod('workers-0'), pod('workers-1', { phase: 'Failed' })]],
    ['a Pod of another gang (vector 30)', [...PODS.slice(0, 2), pod('workers-1', { gang: 'pg-wrong' })]],
    ['a Pod without the gang label (vector 28)', [...PODS.slice(0, 2), pod('workers-1', { gang: '' })]],
    ['a Pod of another namespace', [...PODS.slice(0, 2), pod('workers-1', { namespace: 'other' })]],
  ])('are not filled with %s', (_what, pods) => {
    expect(planGang(state({ pods })).references).toBeUndefined();
  });

  test('lose dead names also before the gang is complete', () => {
    expect(referencesOf(planGang(state({ gang: gang({ groups: FULL }), pods: PODS.slice(0, 2) })))).toEqual({
      workers: ['workers-0'],
    });
  });

  test('follow replaced Pods once Initialized, which stays (vector 32)', () => {
    const pods = [running('leader-0'), pod('workers-2'), pod('workers-3')];
    const result = planGang(state({ gang: gang({ groups: FULL, conditions: [INITIALIZED] }), pods }));
    expect(referencesOf(result)).toEqual({ workers: ['workers-2', 'workers-3'] });
    expect(result.status).toBeUndefined();
  });

  test('shrink with a scale-in, and keep a reference of another namespace from standing', () => {
    const groups = [
      group('leader', 1, 'leader-0'),
      {
        ...group('workers', 2, 'workers-0', 'workers-1'),
        podReferences: ['ml', 'other', 'ml'].map((namespace, index) => ({
          namespace,
          name: `workers-${index}`,
        })),
      },
    ];
    const result = planGang(state({ gang: gang({ groups, conditions: [INITIALIZED] }) }));
    expect(referencesOf(result)).toEqual({ workers: ['workers-0', 'workers-1'] });
  });

  test('are sorted bytewise', () => {
    const pods = ['workers-10', 'workers-2', 'workers-1'].map((name) => pod(name));
    const groups = [group('workers', 3)];
    expect(referencesOf(planGang(state({ gang: gang({ groups }), pods })))).toEqual({
      workers: ['workers-1', 'workers-10', 'workers-2'],
    });
  });
});

test('an unsynced cache plans nothing, whatever it holds', () => {
  for (const pods of [[], PODS]) {
    expect(
      planGang(state({ synced: false, pods, gang: gang({ groups: FULL, conditions: [INITIALIZED] }) })),
    ).toBe(EMPTY_GANG_PLAN);
  }
});

describe('Initialized', () => {
  test.each([
    ['no Pods (vector 27)', [], 'waiting for Pods: leader 0/1, workers 0/2'],
    ['one of two groups (vector 34)', PODS.slice(1), 'waiting for Pods: leader 0/1'],
    ['one Pod too few', PODS.slice(0, 2), 'waiting for Pods: workers 1/2'],
  ])('is False with %s', (_what, pods, message) => {
    const result = planGang(state({ pods }));
    expect(written(result, 'Initialized')).toEqual({
      type: 'Initialized',
      status: 'False',
      reason: 'PodGangPodsCreationPending',
      message,
      observedGeneration: 3,
      lastTransitionTime: '2026-06-01T12:00:00Z',
    });
    expect(result.status?.phase).toBe('Pending');
    expect(result.summary?.why).toBe(message);
    for (const { name } of pods) expect(reasons(result)[name]).toBe(message);
  });

  test('is True when every group refers to its Pods (vector 31)', () => {
    const result = planGang(state({ gang: gang({ groups: FULL }) }));
    expect(written(result, 'Initialized')).toMatchObject({ status: 'True', reason: 'PodGangPodsCreated' });
    // Gates rest on what is stored, not on what is about to be.
    expect(result.ungate).toEqual([]);
    expect(reasons(result)['leader-0']).toBe('the gang is being marked Initialized');
  });

  test('does not wait for late Pods to be referenced', () => {
    const pods = [...PODS, pod('workers-2')];
    expect(initializedOf({ gang: gang({ groups: FULL }), pods })?.status).toBe('True');
  });

  const waits = [
    [{ ready: false, reason: 'no CRD' }, 'backend kube is not ready: no CRD'],
    [{ ready: false }, 'backend kube is not ready'],
    [{ objectsExist: false }, "waiting for the scheduler's objects of backend kube"],
  ] as const;
  test.each(waits)('waits for the backend: %o', (parts, message) => {
    const backend = { ...state().backend, ...parts };
    expect(initializedOf({ gang: gang({ groups: FULL }), backend })).toMatchObject({
      status: 'False',
      message,
    });
  });

  test.each([
    ['no groups', [], 'the gang has no groups'],
    ['no Pods asked for', [group('leader', 0)], 'no group of the gang asks for a Pod'],
  ])('is never given to a gang with %s', (_what, groups, message) => {
    expect(initializedOf({ gang: gang({ groups }) })).toMatchObject({ status: 'False', message });
  });

  test('never goes back, and keeps its words', () => {
    const kept = gang({
      groups: FULL.map((one) => ({ ...one, podReferences: [] })),
      conditions: [INITIALIZED],
    });
    expect(initializedOf({ gang: kept, pods: [] })).toMatchObject({
      status: 'True',
      message: 'as it is',
      lastTransitionTime: '2026-06-01T11:00:00Z',
    });
  });

  test('Unknown is not True', () => {
    const unknown = gang({ conditions: [condition('Initialized', 'Unknown')] });
    expect(initializedOf({ gang: unknown, pods: [] })?.status).toBe('False');
  });

  test('names eight groups and counts the rest', () => {
    const groups = Array.from({ length: 40 }, (_, index) => group(`g${index}`, 3));
    const message = initializedOf({ gang: gang({ groups }), pods: [] })?.message ?? '';
    expect(message).toContain('g0 0/3');
    expect(message).toContain('and 32 more groups');
    expect(message.length).toBeLessThanOrEqual(512);
  });
});

describe('the annotation of expected Pods', () => {
  const read = (text: string) =>
    expectedPods(gang({ annotations: new Map([[ANNOTATION_EXPECTED_PODS, text]]) }));

  test.each([
    ['', [1, 2], []],
    ['workers=5', [1, 5], []],
    [' workers = 5 , leader=2', [2, 5], []],
    ['workers=five', [1, 2], ['"workers=five" is not group=count']],
    ['workers=5=6', [1, 2], ['"workers=5=6" is not group=count']],
    ['workers=-1', [1, 2], ['"workers=-1" is not group=count']],
    ['workers=9999999999', [1, 2], ['"workers=9999999999" is not group=count']],
    ['wrokers=5', [1, 2], ['"wrokers" is no group of this gang']],
    ['workers=1', [1, 2], ['1 is less than minReplicas 2 of group workers']],
    ['workers=3,workers=4', [1, 3], ['group workers is given twice']],
    ['__proto__=3', [1, 2], ['"__proto__" is no group of this gang']],
  ])('%p', (text, counts, faults) => {
    expect(read(text)).toEqual({ counts, faults });
  });

  test('makes a gang wait for more than its minimum (vector 29)', () => {
    const asking = gang({ annotations: new Map([[ANNOTATION_EXPECTED_PODS, 'workers=5']]) });
    expect(initializedOf({ gang: asking })?.message).toBe('waiting for Pods: workers 2/5');
  });

  test('is answered with an Event where it is wrong', () => {
    const wrong = gang({ annotations: new Map([[ANNOTATION_EXPECTED_PODS, 'x=1']]) });
    expect(planGang(state({ gang: wrong })).events).toContainEqual(
      expect.objectContaining({ type: 'Warning', reason: 'ExpectedPodsInvalid' }),
    );
  });
});

describe('Pods that claim what is not there', () => {
  test('an unknown group: an Event, and the gate stays', () => {
    const conditions = [INITIALIZED];
    const mend = 'correct the label grove.io/podclique where the Pod comes from, and delete the Pod';
    const pods = [...PODS, pod('tester-0'), pod('nameless-0', { group: '' })];
    const result = planGang(state({ gang: gang({ groups: FULL, conditions }), pods }));
    expect(result.ungate.map((ungate) => ungate.pod)).toEqual(['leader-0', 'workers-0', 'workers-1']);
    expect(reasons(result)).toEqual({
      'tester-0': `PodGang train has no group "tester", only leader, workers: ${mend}`,
      'nameless-0': `the Pod names no group: ${mend}`,
    });
    expect(result.events.filter(({ reason }) => reason === 'UnknownGroup')).toHaveLength(2);
    expect(result.summary?.gatesLeft).toBe(5);
  });

  test('an unknown gang: an Event after a while, for the gang may still come', () => {
    const message = 'PodGang train does not exist: create it, or delete the Pod';
    const missing = state({ gang: 'missing', pods: PODS.slice(0, 1) });
    expect(planGang(missing).events).toEqual([expect.objectContaining({ reason: 'UnknownGang', message })]);
    const young = { ...missing, pods: [pod('leader-0', { creationTimestamp: '2026-06-01T11:59:58Z' })] };
    expect(planGang(young)).toMatchObject({ events: [], recheckAfterMs: 3000 });
    expect(reasons(planGang(young))).toEqual({ 'leader-0': message });
  });
});

describe('hands off', () => {
  test('Pods whose gang is missing and would not be ours: no Event', () => {
    const result = planGang(
      state({ notOurs: nobodys('not selected'), gang: 'missing', pods: PODS.slice(0, 1) }),
    );
    expect(result).toMatchObject({ events: [], recheckAfterMs: undefined });
    expect(reasons(result)).toEqual({ 'leader-0': 'not selected' });
  });
  const whole = gang({ groups: FULL, conditions: [INITIALIZED] });
  test.each([
    ['a gang of others', state({ notOurs: anothers('Grove moves it'), gang: whole })],
    ['a gang that is being deleted', state({ gang: { ...whole, deletionTimestamp: 'now' } })],
  ])('%s', (_what, input) => {
    for (const pods of [PODS, []]) {
      const result = planGang({ ...input, pods });
      expect(result).toMatchObject({ references: undefined, status: undefined, ungate: [], events: [] });
      expect(result.waiting).toHaveLength(pods.length);
      expect(result.summary?.why).toMatch(/Grove moves it|being deleted/);
    }
  });
});
