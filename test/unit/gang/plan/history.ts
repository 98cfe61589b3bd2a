import { GATE_POD_GANG_PENDING as GATE } from '../../../../src/api/names.ts';
import { ANNOTATION_EXPECTED_PODS } from '../../../../src/api/names.ts';
import type { BackendState, ReleaseOrder } from '../../../../src/gang/records.ts';
import { Random } from '../../../support/random.ts';
import { Broken, Invariants } from './invariants.ts';
import { JUDGE, Leader, type Judge, type Mishap } from './model-leader.ts';
import { ModelStore, podOf, type Draft, type DraftCondition } from './model-store.ts';

/** The gangs of every history: a base gang of two groups and a gang that waits for it. */
const GANGS = {
  'ml/base': [
    { name: 'leader', minReplicas: 1 },
    { name: 'workers', minReplicas: 2 },
  ],
  'ml/scaled': [{ name: 'extra', minReplicas: 1 }],
} as const;
const KEYS = Object.keys(GANGS) as (keyof typeof GANGS)[];
/** The scheduler of every gang's backend, and another that some Pods are prepared for. */
const SCHEDULER = 'default-scheduler';
const OTHER_SCHEDULER = 'kai-scheduler';
/** Every Pod that can be: name, gang, group. The names of two namespaces meet on purpose. */
const PODS = [
  ['ml/leader-0', 'base', 'leader'],
  ['ml/leader-1', 'base', 'leader'],
  ['ml/workers-0', 'base', 'workers'],
  ['ml/workers-1', 'base', 'workers'],
  ['ml/workers-2', 'base', 'workers'],
  ['ml/workers-3', 'base', 'workers'],
  ['ml/extra-0', 'scaled', 'extra'],
  ['ml/extra-1', 'scaled', 'extra'],
  ['other/workers-0', 'base', 'workers'],
  ['other/leader-9', 'base', 'leader'],
] as const;

export interface Flavour {
  readonly leaders: number;
  /** Requests and answers get lost or arrive twice, caches go back in time. */
  readonly faults: boolean;
  readonly order: ReleaseOrder;
  /** There is not always room in memory for all Pods. */
  readonly cut?: boolean;
}

/** What somebody else than the loop does. */
type Deed = (world: World) => void;

/** The cluster without the loop: people, a scheduler, a kubelet. */
export class World {
  readonly store = new ModelStore();
  readonly invariants = new Invariants(this.store, SCHEDULER);
  backend: BackendState;

  constructor(order: ReleaseOrder) {
    this.backend = {
      name: 'kube',
      schedulerName: SCHEDULER,
      ready: true,
      objectsExist: true,
      releaseOrder: order,
    };
  }

  createGang(key: keyof typeof GANGS, dressed: boolean): void {
    if (this.store.objects.gang.has(key)) return;
    const [namespace = '', name = ''] = key.split('/');
    this.store.create('gang', {
      metadata: { namespace, name, labels: { team: 'a' }, annotations: {} },
      spec: {
        podgroups: GANGS[key].map((group) => ({ ...group, podReferences: [] })),
        unknownField: { kept: true },
      },
      ...(dressed
        ? { status: { phase: 'Pending', placementScore: 0.5, conditions: [foreignCondition('False')] } }
        : {}),
    });
  }

  createPod(index: number, foreignGate: boolean, schedulerName = SCHEDULER): void {
    const [key, gang, group] = PODS[index % PODS.length] ?? PODS[0];
    if (this.store.objects.pod.has(key)) return;
    const [namespace = '', name = ''] = key.split('/');
    const gates = [{ name: GATE }, ...(foreignGate ? [{ name: 'kueue.x-k8s.io/admission' }] : [])];
    this.store.create('pod', {
      metadata: {
        namespace,
        name,
        labels: {
          'grove.io/podgang': gang,
          'grove.io/podclique': group,
          ...(gang === 'scaled' ? { 'grove.io/base-podgang': 'base' } : {}),
        },
      },
      spec: { schedulingGates: index % 2 === 0 ? gates : gates.reverse(), schedulerName },
      status: { phase: 'Pending' },
    });
  }

  /** A Pod of another scheduler; `bound`: past the webhook, and that scheduler has placed it. */
  createForeign(index: number, isBound: boolean): void {
    const [key] = PODS[index % PODS.length] ?? PODS[0];
    if (this.store.objects.pod.has(key)) return;
    this.createPod(index, false, OTHER_SCHEDULER);
    if (!isBound) return;
    this.pod(index, (pod) => {
      this.excuse(pod);
      pod.spec.schedulingGates = [];
      pod.spec.nodeName = 'node-2';
    });
  }

  pod(index: number, change: (draft: Draft) => void): void {
    this.store.edit('pod', (PODS[index % PODS.length] ?? PODS[0])[0], change);
  }

  removePod(index: number): void {
    this.store.remove('pod', (PODS[index % PODS.length] ?? PODS[0])[0]);
  }

  /** `kubectl replace --force`: the same names, other objects. */
  applyAnew(key: keyof typeof GANGS): void {
    const own = PODS.filter(([pod, gang]) => `${pod.split('/')[0]}/${gang}` === key);
    this.store.remove('gang', key);
    for (const [pod] of own) this.store.remove('pod', pod);
    this.createGang(key, false);
    for (const pod of own) this.createPod(PODS.indexOf(pod), false);
  }

  excuse(draft: Draft): void {
    this.invariants.excused.add(draft.metadata.uid);
  }

  schedule(draft: Draft): void {
    if (draft.spec.schedulingGates.length === 0) draft.spec.nodeName = 'node-1';
  }
}

const foreignCondition = (status: string): DraftCondition => ({
  type: 'DisruptionTarget',
  status,
  reason: 'Preempted',
  message: 'somebody else wrote this',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const isFree = (draft: Draft): boolean => !draft.spec.schedulingGates.some((gate) => gate.name === GATE);

/** One deed of the outside world. Weighted so that gangs form, live and suffer in a few hundred steps. */
function deed(random: Random): Deed {
  const gang = random.pick(KEYS as [keyof typeof GANGS, ...(keyof typeof GANGS)[]]);
  const index = random.below(PODS.length);
  const flag = random.chance(30);
  const dice = random.below(100);
  if (dice < 10) return (world) => world.createGang(gang, flag);
  if (dice < 12) return (world) => world.applyAnew(gang);
  if (dice < 36) return (world) => world.createPod(index, flag);
  if (dice < 37) return (world) => world.createForeign(index, flag);
  // A whole gang at once: of fewer the others would be held, and none of its groups would ever seem bound.
  if (dice < 38) return (world) => PODS.forEach((_, one) => world.createForeign(one, true));
  if (dice < 46) return (world) => world.pod(index, (pod) => world.schedule(pod));
  if (dice < 54) {
    return (world) => {
      world.pod(index, (pod) => {
        if (pod.spec.nodeName === undefined) return;
        const phase = flag ? (random.chance(50) ? 'Failed' : 'Succeeded') : 'Running';
        const ready = { type: 'Ready', status: phase === 'Running' ? 'True' : 'False' };
        pod.status = { phase, conditions: [ready] };
      });
    };
  }
  if (dice < 58) {
    return (world) => {
      world.pod(index, (pod) => {
        pod.spec.schedulingGates = pod.spec.schedulingGates.filter((gate) => gate.name === GATE);
      });
    };
  }
  if (dice < 62) return (world) => world.pod(index, (pod) => (pod.metadata.deletionTimestamp = 'now'));
  if (dice < 66) return (world) => world.removePod(index);
  if (dice < 70) {
    return (world) => {
      world.removePod(index);
      world.createPod(index, flag, random.chance(15) ? OTHER_SCHEDULER : SCHEDULER);
    };
  }
  if (dice < 73) {
    return (world) => {
      world.pod(index, (pod) => {
        if (isFree(pod)) world.excuse(pod);
        pod.metadata.labels['grove.io/podclique'] = flag ? 'leader' : 'workers';
      });
    };
  }
  if (dice < 75) {
    return (world) => {
      world.pod(index, (pod) => {
        if (isFree(pod)) world.excuse(pod);
        pod.metadata.labels['grove.io/podgang'] = flag ? 'scaled' : 'base';
      });
    };
  }
  if (dice < 77) return (world) => world.store.remove('gang', gang);
  if (dice < 79) {
    return (world) => {
      world.store.remove('gang', gang);
      world.createGang(gang, flag);
    };
  }
  if (dice < 80) {
    return (world) => world.store.edit('gang', gang, (draft) => (draft.metadata.deletionTimestamp = 'now'));
  }
  if (dice < 84) {
    return (world) => {
      world.store.edit('gang', gang, (draft) => {
        const others = (draft.status?.conditions ?? []).filter((one) => one.type !== 'DisruptionTarget');
        const conditions = [foreignCondition(flag ? 'True' : 'False'), ...others];
        draft.status = { phase: 'Pending', ...draft.status, conditions };
      });
    };
  }
  if (dice < 87) {
    return (world) => {
      world.store.edit('gang', gang, (draft) => {
        for (const group of draft.spec.podgroups.slice(0, 1)) group.minReplicas = flag ? 2 : 1;
      });
    };
  }
  if (dice < 90) {
    return (world) => {
      world.store.edit('gang', gang, (draft) => {
        draft.metadata.annotations = flag ? { [ANNOTATION_EXPECTED_PODS]: 'workers=3,extra=2' } : {};
      });
    };
  }
  if (dice < 92) {
    return (world) => {
      world.pod(index, (pod) => {
        if (!isFree(pod)) world.excuse(pod);
        pod.spec.schedulingGates = pod.spec.schedulingGates.filter((gate) => gate.name !== GATE);
      });
    };
  }
  if (dice < 94) return (world) => void (world.backend = { ...world.backend, objectsExist: !flag });
  if (dice < 95) return (world) => void (world.backend = { ...world.backend, ready: !flag });
  return (world) => void (world.store.clock += flag ? 40 : 2);
}

export interface Outcome {
  readonly steps: number;
  /** In these steps; what it takes to bring all home afterwards is not counted. */
  readonly writes: Invariants['writes'];
  readonly end: unknown;
}

/** One history from one seed, then calm, then the end state. @throws {Broken} at the step that breaks an invariant */
export function runHistory(seed: number, length: number, flavour: Flavour, judge: Judge = JUDGE): Outcome {
  const random = new Random(seed);
  const world = new World(flavour.order);
  const calm = flavour.leaders === 1 && !flavour.faults;
  if (calm) world.invariants.releaseOrder = flavour.order;
  const leaders = Array.from({ length: flavour.leaders }, () => new Leader(world.store, judge));
  if (random.chance(60)) for (const key of KEYS) world.applyAnew(key);
  for (let step = 0; step < length; step += 1) {
    const leader = leaders[random.below(leaders.length)];
    if (leader === undefined || random.chance(12)) {
      deed(random)(world);
    } else {
      leaderStep(random, world, leader, flavour);
    }
    world.invariants.stepped();
  }
  const writes = { ...world.invariants.writes };
  return { steps: length, writes, end: settle(world, leaders) };
}

function leaderStep(random: Random, world: World, leader: Leader, { faults, cut = false }: Flavour): void {
  const kind = random.chance(50) ? 'gang' : 'pod';
  const dice = random.below(100);
  if (!leader.synced) {
    if (dice < 40) leader.listPage(() => random.chance(50));
    else if (dice < 60) leader.finishLists();
    else if (dice < 80) leader.reconcile(random.pick(KEYS as [string, ...string[]]), world.backend);
    else work(world, leader, 'none');
    return;
  }
  if (dice < 30) leader.follow(kind, random.chance(50) ? Infinity : 1 + random.below(4));
  else if (dice < 50) leader.reconcile(random.pick(KEYS as [string, ...string[]]), world.backend);
  else if (cut && dice >= 86 && dice < 96) {
    if (dice < 92) leader.whole();
    else leader.cut(() => random.chance(50));
  } else if (dice < 96) work(world, leader, faults && random.chance(20) ? mishap(random) : 'none');
  else if (dice < 98 || !faults) leader.restart();
  else leader.rewind(kind, random.below(leader.lagOf(kind) + 1));
}

const mishap = (random: Random): Mishap => random.pick(['lost-request', 'lost-answer', 'duplicated']);

const work = (world: World, leader: Leader, what: Mishap): boolean =>
  leader.work(what, (write, run) => world.invariants.around(leader, write, run));

/** The faults stop, the world makes every Pod and gang whole, and the loop has to bring all of it home. */
function settle(world: World, leaders: readonly Leader[]): unknown {
  world.backend = { ...world.backend, ready: true, objectsExist: true };
  for (const key of KEYS) {
    if (world.store.gang(key)?.deletionTimestamp !== undefined) world.store.remove('gang', key);
    world.createGang(key, false);
  }
  for (let index = 0; index < PODS.length; index += 1) {
    const pod = world.store.pods().find((one) => `${one.namespace}/${one.name}` === PODS[index]?.[0]);
    const lost = pod?.deletionTimestamp !== undefined || pod?.phase === 'Failed';
    if (lost || pod?.schedulerName === OTHER_SCHEDULER) world.removePod(index);
    world.createPod(index, false);
    world.pod(index, (draft) => {
      const [, gang, group] = PODS[index] ?? PODS[0];
      if (isFree(draft)) world.excuse(draft);
      draft.metadata.labels['grove.io/podgang'] = gang;
      draft.metadata.labels['grove.io/podclique'] = group;
      draft.spec.schedulingGates = draft.spec.schedulingGates.filter((gate) => gate.name === GATE);
    });
  }
  for (let round = 0; ; round += 1) {
    if (round > 40) throw new Broken('I9', 'the loop does not come to rest');
    world.store.clock += 40;
    if (!bringHome(world, leaders)) break;
  }
  return endOf(world);
}

/** Every leader reads everything and does what it sees; then the scheduler and the kubelet do. */
function bringHome(world: World, leaders: readonly Leader[]): boolean {
  const before = world.store.log.length;
  for (const leader of leaders) {
    for (const key of KEYS) {
      leader.finishLists();
      leader.whole();
      leader.follow('gang', Infinity);
      leader.follow('pod', Infinity);
      leader.reconcile(key, world.backend);
      while (leader.tasks.length > 0) {
        work(world, leader, 'none');
        world.invariants.stepped();
      }
    }
  }
  for (let index = 0; index < PODS.length; index += 1) {
    world.pod(index, (pod) => {
      world.schedule(pod);
      if (pod.spec.nodeName !== undefined && pod.status?.phase !== 'Succeeded') {
        pod.status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      }
    });
  }
  return world.store.log.length > before;
}

/** What must be the same whatever went wrong on the way: no times, no versions. */
function endOf(world: World): unknown {
  return {
    gangs: KEYS.map((key) => {
      const gang = world.store.gang(key);
      const { generation } = gang ?? { generation: 0 };
      return {
        key,
        phase: gang?.phase,
        references: gang?.spec.groups.map((group) => group.podReferences?.map(({ name }) => name)),
        conditions: gang?.conditions
          .filter((condition) => condition.type !== 'DisruptionTarget')
          .map(({ type, status, reason, message, observedGeneration }) => ({
            type,
            status,
            reason,
            message,
            current: observedGeneration === generation,
          }))
          .sort((a, b) => (a.type < b.type ? -1 : 1)),
      };
    }),
    pods: [...world.store.objects.pod]
      .filter(([key]) => key.startsWith('ml/'))
      .map(([key, pod]) => [key, podOf(pod).gates])
      .sort(),
  };
}

/** The same end without any fault: everything is there, and one leader does its work. */
export function faultFreeEnd(order: ReleaseOrder): unknown {
  const world = new World(order);
  return settle(world, [new Leader(world.store, JUDGE)]);
}
