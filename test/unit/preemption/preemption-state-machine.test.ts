import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { nextPreemptionStep, type PreemptionStep } from '../../../src/preemption/preemption-state-machine.ts';
import type { InFlight } from '../../../src/preemption/in-flight.ts';
import type { Situation } from '../../../src/preemption/plan-within-budgets.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import { readSnapshotPod } from '../../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../../src/preemption/read/read-snapshot.ts';
import { FieldReader } from '../../../src/k8s/field-reader.ts';
import { budget, node, planFor, pod, podGang, priorityClass, type PodIn } from './small-cluster.ts';

const CLASSES = [priorityClass('low', 10), priorityClass('mid', 50), priorityClass('high', 100)];
const WORKERS: readonly PodIn[] = ['w-0', 'w-1'].map((name) => ({ name, cpu: 2, prio: 100, gang: 'train' }));

interface Given {
  readonly wanting?: readonly PodIn[];
  readonly mayGo?: Situation['mayGo'];
  readonly breaksBudgets?: boolean;
  readonly gang?: JsonObject;
}

function situation(objects: readonly JsonObject[], given: Given = {}): Situation {
  const gang = given.gang ?? podGang('train', { className: 'high', groups: { worker: 2 } });
  const { snapshot, context, faults } = readSnapshot([...CLASSES, gang, ...objects]);
  expect(faults).toEqual([]);
  const pods = (given.wanting ?? WORKERS).map((one) =>
    readSnapshotPod(pod(one), context, new FieldReader('w')),
  );
  return {
    preemptor: preemptorOf(pods, snapshot, 'kep'),
    snapshot,
    variant: 'kep',
    mayGo: given.mayGo ?? (() => true),
    breaksBudgets: given.breaksBudgets ?? false,
  };
}

const old = (name: string, more: Partial<PodIn> = {}): JsonObject =>
  pod({ name, on: 'n1', cpu: 2, prio: 10, gang: 'old', ...more });
const TOGETHER = podGang('old', { className: 'low', mode: 'PodGroup' });
const FULL = [node('n1', 4), TOGETHER, old('o-0'), old('o-1')];

const begun = (): InFlight => {
  const { inFlight } = nextPreemptionStep(undefined, situation(FULL));
  if (inFlight === undefined) throw new Error('no plan');
  return inFlight;
};
const goes = ({ evict }: PreemptionStep): string[] =>
  evict.flatMap(({ pods }) => pods.map(({ name }) => name));
const told = { told: 'PreemptionByScheduler' };

describe('a plan that begins', () => {
  test('names the whole unit and a node for each Pod', () => {
    const step = nextPreemptionStep(undefined, situation(FULL));
    expect(step).toMatchObject({ verdict: 'Preempts', why: '1 units make room for it' });
    expect(step.inFlight).toEqual({
      nominations: WORKERS.map(({ name }) => ({ name, uid: `uid-${name}`, node: 'n1' })),
      victims: [
        {
          kind: 'PodGang',
          namespace: 'ns',
          name: 'old',
          priority: 10,
          pods: ['o-0', 'o-1'].map((name) => ({ name, uid: `uid-${name}` })),
        },
      ],
      closing: false,
    });
    // It can be written down.
    expect(JSON.parse(JSON.stringify(step.inFlight))).toEqual(step.inFlight);
  });

  test('not while one Pod of the gang has no place, even with everybody gone', () => {
    const three = [...WORKERS, { name: 'w-2', cpu: 2, prio: 100, gang: 'train' }];
    const gang = podGang('train', { className: 'high', groups: { worker: 3 } });
    expect(nextPreemptionStep(undefined, situation(FULL, { wanting: three, gang }))).toMatchObject({
      verdict: 'Unschedulable',
      evict: [],
      why: 'no set of victims makes room for it',
    });
  });

  test('not where it fits, or will once others are gone that go anyway', () => {
    expect(nextPreemptionStep(undefined, situation([node('n1', 4)]))).toMatchObject({
      verdict: 'Fits',
      evict: [],
    });
    const leaving = [node('n1', 4), TOGETHER, old('o-0', { leaving: true }), old('o-1', { leaving: true })];
    expect(nextPreemptionStep(undefined, situation(leaving))).toMatchObject({
      verdict: 'Waits',
      inFlight: undefined,
      evict: [],
      why: 'it fits once 2 Pods that are on their way out are gone',
    });
  });
});

describe('while the victims go', () => {
  test('the rest of them, and nobody else', () => {
    const half = [node('n1', 4), TOGETHER, old('o-0', { ...told, leaving: true }), old('o-1', told)];
    const step = nextPreemptionStep(
      begun(),
      situation([...half, node('n2', 2), old('other', { on: 'n2', gang: 'x' })]),
    );
    expect(step).toMatchObject({ verdict: 'Waits', why: 'it waits for 2 Pods of 1 units' });
    expect(goes(step)).toEqual(['o-1']);
  });

  test('one of the same name that was made since is somebody else', () => {
    const again = pod({ name: 'o-0', on: 'n2', cpu: 2, prio: 10 });
    const made = { ...again, metadata: { ...(again['metadata'] as JsonObject), uid: 'new' } };
    const step = nextPreemptionStep(
      begun(),
      situation([node('n1', 4), node('n2', 2), old('o-1', told), TOGETHER, made]),
    );
    expect(goes(step)).toEqual(['o-1']);
  });

  test('it takes room that appears elsewhere, and what was not begun is spared', () => {
    const step = nextPreemptionStep(begun(), situation([...FULL, node('n2', 4)]));
    expect(step).toMatchObject({ verdict: 'Fits', inFlight: undefined, evict: [] });
  });

  test('… but a unit that was begun goes as a whole', () => {
    const half = [node('n1', 4), TOGETHER, old('o-0', { ...told, leaving: true }), old('o-1')];
    const step = nextPreemptionStep(begun(), situation([...half, node('n2', 4)]));
    expect(step).toMatchObject({ verdict: 'Fits', inFlight: { closing: true } });
    expect(goes(step)).toEqual(['o-1']);
  });

  test('the eviction API writes another reason over the mark, which counts as well', () => {
    const half = [
      node('n1', 4),
      TOGETHER,
      old('o-0', { told: 'EvictionByEvictionAPI', leaving: true }),
      old('o-1'),
    ];
    expect(goes(nextPreemptionStep(begun(), situation([...half, node('n2', 4)])))).toEqual(['o-1']);
  });
});

describe('a plan that cannot come true any more is given up', () => {
  const taken = pod({ name: 'urgent', on: 'n1', cpu: 2, prio: 1000 });

  test('overtaken by a Pod of higher priority', () => {
    const half = [node('n1', 4), TOGETHER, old('o-0', { ...told, leaving: true }), old('o-1', told), taken];
    const victims = [node('n2', 4), pod({ name: 'v', on: 'n2', cpu: 4, prio: 10 })];
    const step = nextPreemptionStep(begun(), situation([...half, ...victims]));
    // The first set is finished, and nothing new is begun beside it.
    expect(step).toMatchObject({
      verdict: 'Waits',
      inFlight: { closing: true },
      why: 'ns/w-1 does not fit on n1 any more: Insufficient cpu; nothing new is planned before 2 Pods of 1 units have gone',
    });
    expect(goes(step)).toEqual(['o-1']);
    // Still so once all were told, whatever room is left where they are.
    const going = [node('n1', 4), TOGETHER, old('o-0', { ...told, leaving: true }), taken, ...victims];
    expect(nextPreemptionStep(step.inFlight, situation(going))).toMatchObject({
      verdict: 'Waits',
      evict: [],
      why: 'the plan was given up; nothing new is planned before 1 Pods of 1 units have gone',
    });
    // They are gone: a new plan.
    const next = nextPreemptionStep(step.inFlight, situation([node('n1', 4), TOGETHER, taken, ...victims]));
    expect(next.verdict).toBe('Preempts');
    expect(goes(next)).toEqual(['v']);
  });

  test.each<[string, JsonObject[], Given, string]>([
    [
      'a victim costs as much by now',
      [podGang('old', { className: 'low', mode: 'PodGroup', cost: 'high' })],
      {},
      'has priority 100 by now',
    ],
    ['a victim may not be touched', [TOGETHER], { mayGo: () => false }, 'may not be touched'],
    ['its members go one by one', [podGang('old', { className: 'low' })], {}, 'is no unit of its own'],
    [
      'it may not preempt',
      [TOGETHER],
      {
        gang: podGang('train', {
          className: 'high',
          groups: { worker: 2 },
          annotations: { 'muster.dev/preemption-policy': 'Never' },
        }),
      },
      'policy is Never',
    ],
  ])('%s: the unit that was not begun stays, one that was goes', (_, gangs, given, why) => {
    const rest = [node('n1', 4), ...gangs];
    const plan: InFlight = { ...begun() };
    // One unit was begun, another one was not.
    const other = {
      kind: 'Pod',
      namespace: 'ns',
      name: 'p',
      priority: 10,
      pods: [{ name: 'p', uid: 'uid-p' }],
    } as const;
    const both = { ...plan, victims: [other, ...plan.victims] };
    const objects = [
      ...rest,
      node('n2', 1),
      pod({ name: 'p', on: 'n2', prio: 10, cpu: 1, ...told }),
      old('o-0'),
      old('o-1'),
    ];
    const step = nextPreemptionStep(both, situation(objects, given));
    expect(step.why).toContain(why);
    expect(step.inFlight).toMatchObject({ closing: true, victims: [{ name: 'p' }] });
    expect(goes(step)).toEqual(['p']);
  });

  test('the node is gone', () => {
    const step = nextPreemptionStep(
      begun(),
      situation([node('n2', 3), TOGETHER, old('o-0', told), old('o-1', told)]),
    );
    expect(step.why).toContain('node n1 is gone');
  });

  test('fewer of its Pods are there', () => {
    const half = [node('n1', 4), TOGETHER, old('o-0', told), old('o-1', told)];
    const step = nextPreemptionStep(begun(), situation(half, { wanting: WORKERS.slice(0, 1) }));
    expect(step.why).toContain('fewer of its Pods are there than the plan was made for');
  });

  test('everybody has gone, and still it does not fit: planned anew', () => {
    // Each Pod fits where it is nominated; in the order of the planner they do not.
    const plan: InFlight = { ...begun(), victims: [] };
    const step = nextPreemptionStep(plan, situation([node('n1', 4), old('o-0'), old('o-1'), podGang('old')]));
    expect(step.verdict).toBe('Preempts');
  });
});

describe('vector 39: room that somebody else makes for it already', () => {
  const wanting: PodIn = { name: 'want', cpu: 2, prio: 100, nominated: 'n1' };
  const running = (more: Partial<PodIn>): JsonObject[] => [
    node('n1', 2),
    pod({ name: 'low', on: 'n1', cpu: 2, prio: 10, ...more }),
    node('n2', 2),
    pod({ name: 'next', on: 'n2', cpu: 2, prio: 10 }),
  ];
  const going = running({ ...told, leaving: true });

  test('nobody more has to go', () => {
    expect(nextPreemptionStep(undefined, situation(going, { wanting: [wanting] }))).toMatchObject({
      verdict: 'Waits',
      evict: [],
      why: 'room is being made for ns/want on n1',
    });
    expect(planFor([wanting], going, 'kube-1.36')).toMatchObject({
      feasible: false,
      refusal: { why: 'RoomBeingMade', pod: { namespace: 'ns', name: 'want' }, node: 'n1' },
    });
  });

  test.each<[string, Partial<PodIn>, Partial<PodIn>]>([
    ['it goes for another reason', { leaving: true }, {}],
    ['it goes for a reason that is no preemption', { leaving: true, told: 'DeletionByTaintManager' }, {}],
    ['it was told, but does not go', told, {}],
    ['it is not below', { ...told, leaving: true, prio: 100 }, {}],
    ['it is on another node', { ...told, leaving: true }, { nominated: 'n2' }],
  ])('%s: then others may have to', (_, more, want) => {
    const found = planFor([{ ...wanting, ...want }], running(more), 'kube-1.36');
    expect(found).toMatchObject({ feasible: true, refusal: undefined });
  });
});

describe('PodDisruptionBudgets', () => {
  // Where the planner places the gang first, a budget protects who is there; elsewhere it does not.
  const cluster = (allowed: number, other: Partial<PodIn>): JsonObject[] => [
    node('n1', 4),
    node('n2', 4),
    pod({ name: 'kept', on: 'n1', cpu: 3, prio: 10, labels: { app: 'a' } }),
    pod({ name: 'free', on: 'n2', cpu: 3, prio: 50, ...other }),
    budget('a', allowed),
  ];
  const wanting = [{ name: 'w-0', cpu: 3, prio: 100, gang: 'train' }];
  const gang = podGang('train', { className: 'high' });

  test('are not overdrawn where somebody else can go, even of higher priority', () => {
    const step = nextPreemptionStep(
      undefined,
      situation(cluster(0, {}), { wanting, gang, breaksBudgets: true }),
    );
    expect(goes(step)).toEqual(['free']);
    const allowed = nextPreemptionStep(undefined, situation(cluster(1, {}), { wanting, gang }));
    expect(goes(allowed)).toEqual(['kept']);
  });

  test('are overdrawn where nothing else helps only if they may be', () => {
    const objects = cluster(0, { prio: 1000 });
    expect(nextPreemptionStep(undefined, situation(objects, { wanting, gang }))).toMatchObject({
      verdict: 'Unschedulable',
      evict: [],
      why: 'it would fit only if PodDisruptionBudget ns/a were overdrawn',
    });
    expect(
      goes(nextPreemptionStep(undefined, situation(objects, { wanting, gang, breaksBudgets: true }))),
    ).toEqual(['kept']);
  });

  test('one with an empty selector is for every Pod of its namespace', () => {
    const everything = { ...budget('all', 0), spec: { selector: {} } };
    const objects = [node('n1', 4), pod({ name: 'v', on: 'n1', cpu: 4, prio: 10 }), everything];
    expect(nextPreemptionStep(undefined, situation(objects, { wanting, gang }))).toMatchObject({
      verdict: 'Unschedulable',
      evict: [],
      why: 'it would fit only if PodDisruptionBudget ns/all were overdrawn',
    });
  });

  test('so many alternatives are not all tried', () => {
    const many = Array.from({ length: 12 }, (_, index) =>
      pod({ name: `v${index}`, on: 'n1', cpu: 1, prio: 10, labels: { app: 'a' } }),
    );
    const want = [{ name: 'w-0', cpu: 12, prio: 100, gang: 'train' }];
    const step = nextPreemptionStep(
      undefined,
      situation([node('n1', 12), ...many, budget('a', 1)], { wanting: want, gang }),
    );
    expect(step.verdict).toBe('Unschedulable');
  });
});
