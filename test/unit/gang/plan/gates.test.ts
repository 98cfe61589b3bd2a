import { describe, expect, test } from '@jest/globals';
import jsonPatch, { type Operation } from 'fast-json-patch';
import { confirmUngates } from '../../../../src/gang/plan/plan-gates.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import { ungatePatch } from '../../../../src/gang/plan/gang-plan.ts';
import type { PodRecord } from '../../../../src/gang/records.ts';
import {
  bound,
  FULL,
  gang,
  GATE,
  group,
  INITIALIZED,
  pod,
  PODS,
  reasons,
  released,
  state,
  written,
} from './gang-states.ts';

const whole = gang({ groups: FULL, conditions: [INITIALIZED] });

describe('gates', () => {
  test('come off referenced Pods of an Initialized gang (vector 35)', () => {
    const result = planGang(state({ gang: whole }));
    expect(released(result)).toEqual(['leader-0', 'workers-0', 'workers-1']);
    expect(result.events).toContainEqual(
      expect.objectContaining({
        reason: 'GatesRemoved',
        message: 'released 3 Pods to the scheduler: leader-0, workers-0, workers-1',
        after: 'ungate',
      }),
    );
  });

  test('stay on a Pod that is not referenced yet (vector 37)', () => {
    const result = planGang(state({ gang: whole, pods: [...PODS, pod('workers-2')] }));
    expect(released(result)).not.toContain('workers-2');
    expect(reasons(result)['workers-2']).toBe('not yet in the references of group workers');
  });

  test('a Pod without our gate is left alone (vector 37)', () => {
    const result = planGang(state({ gang: whole, pods: [pod('leader-0', { gates: ['foo.io/admission'] })] }));
    expect(released(result)).toEqual([]);
    expect(reasons(result)).toEqual({ 'leader-0': 'held by another gate: "foo.io/admission"' });
  });

  test('wait also later for a backend that cannot answer for the gang', () => {
    const backend = (parts: object) => ({
      ...state().backend,
      name: 'kai-scheduler',
      objectsExist: false,
      ...parts,
    });
    const wait = planGang(state({ gang: whole, backend: backend({ objectsWait: 'queue "q" is closed' }) }));
    expect(released(wait)).toEqual([]);
    expect(reasons(wait)['leader-0']).toBe(
      'waiting for the scheduler\'s objects of backend kai-scheduler: queue "q" is closed',
    );
    // On their way: there in a moment, or the backend says why not. Nothing goes, and nothing is written.
    const coming = planGang(state({ gang: whole, backend: backend({}) }));
    expect(released(coming)).toEqual([]);
    expect(written(coming, 'Scheduled')?.reason).toBe('PodsPending');
    const gone = planGang(
      state({ gang: whole, backend: backend({ ready: false, reason: 'the CRD is missing' }) }),
    );
    expect(reasons(gone)['leader-0']).toBe('backend kai-scheduler is not ready: the CRD is missing');
    expect(gone.summary?.why).toContain('backend kai-scheduler is not ready: the CRD is missing');
  });

  const object = (parts: object = {}) => ({
    metadata: {
      uid: 'uid-leader-0',
      labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'leader' },
      ...parts,
    },
    spec: { schedulingGates: ['foo.io/admission', GATE, 'foo.io/topology'].map((name) => ({ name })) },
  });
  const [ungate] = planGang(
    state({
      gang: whole,
      pods: [pod('leader-0', { gates: ['foo.io/admission', GATE, 'foo.io/topology'] }), ...PODS.slice(1)],
    }),
  ).ungate;
  const apply = (target: object): object =>
    jsonPatch.applyPatch(target, (ungate ? ungatePatch(ungate) : []) as Operation[], true).newDocument;

  test('only ours goes (vector 38)', () => {
    expect(apply(object())).toMatchObject({
      spec: { schedulingGates: [{ name: 'foo.io/admission' }, { name: 'foo.io/topology' }] },
    });
  });

  test.each([
    ['another Pod of the same name', object({ uid: 'uid-other' })],
    ['another group', object({ labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'x' } })],
    ['another gang', object({ labels: { 'grove.io/podgang': 'x', 'grove.io/podclique': 'leader' } })],
    ['no labels any more', object({ labels: undefined })],
    ['a gate gone', { ...object(), spec: { schedulingGates: [{ name: GATE }] } }],
  ])('nothing goes from %s', (_what, target) => {
    expect(() => apply(JSON.parse(JSON.stringify(target)) as object)).toThrow();
  });

  test('the gang is asked again before they go', () => {
    const { ungate: ungates } = planGang(state({ gang: whole }));
    expect(confirmUngates(ungates, whole)).toEqual(ungates);
    const fewer = gang({ groups: [group('leader', 1, 'leader-0')], conditions: [INITIALIZED] });
    expect(confirmUngates(ungates, fewer).map((one) => one.pod)).toEqual(['leader-0']);
    expect(confirmUngates(ungates, undefined)).toEqual([]);
    expect(confirmUngates(ungates, { ...whole, uid: 'uid-new' })).toEqual([]);
    expect(confirmUngates(ungates, { ...whole, conditions: [] })).toEqual([]);
    expect(confirmUngates(ungates, { ...whole, deletionTimestamp: 'now' })).toEqual([]);
  });

  test('one taken off behind our back is reported, and nothing can be done', () => {
    const result = planGang(state({ pods: [pod('leader-0', { gates: [] })] }));
    expect(result.violations).toEqual([
      expect.objectContaining({ kind: 'UngatedEarly', pod: 'leader-0', uid: 'uid-leader-0' }),
    ]);
    expect(result.events).toContainEqual(
      expect.objectContaining({ type: 'Warning', reason: 'UngatedEarly' }),
    );
    expect(
      planGang(state({ gang: whole, pods: PODS.map((one) => ({ ...one, gates: [] })) })).violations,
    ).toEqual([]);
  });
});

describe('a base gang', () => {
  const base = gang({ name: 'base', groups: [group('a', 2), group('b', 1)] });
  const inBase = (name: string): PodRecord => bound(name, { gang: 'base' });
  const pods = PODS.map((one) => ({ ...one, baseGang: 'base' }));
  const scaled = (...of: PodRecord[]) =>
    planGang(state({ gang: whole, pods, baseGangs: new Map([['base', { gang: base, pods: of }]]) }));

  test('that is scheduled lets go (vectors 36, 39)', () => {
    expect(released(scaled(...['a-0', 'a-1', 'b-0', 'b-1', 'b-2'].map(inBase)))).toHaveLength(3);
  });

  test.each<[string, string[], string]>([
    ['one group short (vector 36)', ['a-0', 'b-0'], 'the base gang "base" is not scheduled: bound a 1/2'],
    ['nothing bound', [], 'the base gang "base" is not scheduled: bound a 0/2, b 0/1'],
    ['more elsewhere (vector 39)', ['a-0', 'a-1'], 'the base gang "base" is not scheduled: bound b 0/1'],
  ])('holds with %s', (_what, names, reason) => {
    const result = scaled(...names.map(inBase));
    expect(released(result)).toEqual([]);
    expect(reasons(result)['leader-0']).toBe(reason);
    expect(result.summary?.why).toContain(reason);
  });

  test('that is missing is waited for (vector 36)', () => {
    const result = planGang(state({ gang: whole, pods }));
    expect(released(result)).toEqual([]);
    expect(reasons(result)['leader-0']).toBe('the base gang "base" does not exist');
    expect(result.events).toContainEqual(
      expect.objectContaining({ reason: 'WaitingForBaseGang', type: 'Normal' }),
    );
  });

  test('terminating and failed Pods do not schedule it', () => {
    const dead = [
      bound('a-1', { gang: 'base', deletionTimestamp: 'now' }),
      bound('a-2', { gang: 'base', phase: 'Failed' }),
    ];
    expect(released(scaled(inBase('a-0'), inBase('b-0'), ...dead))).toEqual([]);
  });

  test('cannot be the gang itself', () => {
    const own = PODS.map((one) => ({ ...one, baseGang: 'train' }));
    expect(reasons(planGang(state({ gang: whole, pods: own })))['leader-0']).toMatch(/names the gang itself/);
  });
});

describe('release order minimum-first', () => {
  const backend = { ...state().backend, releaseOrder: 'minimum-first' as const };
  const groups = [
    group('leader', 1, 'leader-0'),
    group('workers', 2, 'workers-0', 'workers-1', 'workers-2', 'workers-3'),
  ];
  const big = gang({ groups, conditions: [INITIALIZED] });
  const workers = ['workers-0', 'workers-1', 'workers-2', 'workers-3'];
  const run = (...pods: PodRecord[]) => planGang(state({ gang: big, backend, pods }));
  const gated = (...names: string[]) => names.map((name) => pod(name));

  test('lets exactly the minimum of every group go first', () => {
    const result = run(...gated('leader-0', ...workers));
    expect(released(result)).toEqual(['leader-0', 'workers-0', 'workers-1']);
    expect(reasons(result)['workers-2']).toBe(
      'comes after the minimum of every group: bound leader 0/1, workers 0/2',
    );
  });

  test('lets nothing more go while those are not all bound', () => {
    const first = [pod('leader-0', { gates: [] }), bound('workers-0'), bound('workers-1')];
    expect(released(run(...first, ...gated('workers-2', 'workers-3')))).toEqual([]);
  });

  test('lets the rest go then', () => {
    const first = [bound('leader-0'), bound('workers-0'), bound('workers-1')];
    expect(released(run(...first, ...gated('workers-2', 'workers-3')))).toEqual(['workers-2', 'workers-3']);
  });

  test('gives the place of a lost Pod to another', () => {
    const lost = [
      pod('workers-0', { gates: [], phase: 'Failed' }),
      pod('workers-1', { gates: [], deletionTimestamp: 'now' }),
    ];
    expect(released(run(bound('leader-0'), ...lost, ...gated('workers-2', 'workers-3')))).toEqual([
      'workers-2',
      'workers-3',
    ]);
  });

  test('counts Pods that went before, also by foreign gates', () => {
    const first = [pod('leader-0', { gates: [] }), pod('workers-3', { gates: ['kueue'] })];
    expect(released(run(...first, ...gated('workers-0', 'workers-1', 'workers-2')))).toEqual(['workers-0']);
  });

  test('goes by age, so that a later Pod takes nobody’s place', () => {
    const late = pod('workers-0', { creationTimestamp: '2026-06-01T11:59:30Z' });
    expect(released(run(pod('leader-0'), late, ...gated('workers-1', 'workers-2', 'workers-3')))).toEqual([
      'leader-0',
      'workers-1',
      'workers-2',
    ]);
  });
});

describe('release order optional-groups-last', () => {
  const backend = { ...state().backend, releaseOrder: 'optional-groups-last' as const };
  const groups = [
    group('leader', 1, 'leader-0'),
    group('workers', 2, 'workers-0', 'workers-1', 'workers-2'),
    group('helpers', 0, 'helpers-0', 'helpers-1'),
  ];
  const big = gang({ groups, conditions: [INITIALIZED] });
  const helpers = [pod('helpers-0'), pod('helpers-1')];
  const run = (...pods: PodRecord[]) => planGang(state({ gang: big, backend, pods }));

  test('lets all Pods of groups with a minimum go, and those of others once the minimums are bound', () => {
    const result = run(pod('leader-0'), bound('workers-0'), pod('workers-1'), pod('workers-2'), ...helpers);
    expect(released(result)).toEqual(['leader-0', 'workers-1', 'workers-2']);
    expect(reasons(result)['helpers-0']).toBe(
      'comes after the minimum of every group: bound leader 0/1, workers 1/2',
    );
    const all = run(bound('leader-0'), bound('workers-0'), bound('workers-1'), ...helpers);
    expect(released(all)).toEqual(['helpers-0', 'helpers-1']);
  });
});
