import type { JsonObject } from '../../src/json/json.ts';
import { GATE_POD_GANG_PENDING as GATE } from '../../src/api/names.ts';
import { RELEASE_ORDERS, type BackendState } from '../../src/gang/records.ts';
import type { Random } from '../support/random.ts';
import { Invariants } from '../unit/gang/plan/invariants.ts';
import { Leader, type Judge } from '../unit/gang/plan/model-leader.ts';
import { ModelStore, podOf, type Creation, type Draft } from '../unit/gang/plan/model-store.ts';
import { must, mustBeClean } from './target.ts';

const SCHEDULER = 'default-scheduler';
const GROUPS = ['leader', 'workers', 'extra'] as const;
/** Rounds in which a gang has to come to rest: nothing else happens to it meanwhile. */
const MOST_ROUNDS = 12;

/** PodGangs and Pods as the schema of the CRD lets them in, whatever they say, and what happens to them then. */
export interface Stored {
  readonly gangs: readonly Creation[];
  readonly pods: readonly Creation[];
  readonly backend: BackendState;
  readonly deeds: readonly Deed[];
}

/** What somebody does once everything has come to rest. */
interface Deed {
  readonly what: 'bind' | 'remove' | 'add' | 'fail' | 'ready' | 'backend';
  readonly pod: number;
}

export function randomStored(random: Random): Stored {
  const order = random.pick(RELEASE_ORDERS);
  return {
    gangs: ['train', ...(random.chance(30) ? ['base'] : [])].map((name) => gang(name, random)),
    pods: Array.from({ length: random.below(7) }, (_, index) => pod(index, random)),
    backend: {
      name: 'native',
      schedulerName: SCHEDULER,
      ready: random.chance(90),
      objectsExist: random.chance(90),
      releaseOrder: order,
    },
    deeds: random.list(4, () => ({
      what: random.pick(['bind', 'remove', 'add', 'fail', 'ready', 'backend'] as const),
      pod: random.below(8),
    })),
  };
}

function gang(name: string, random: Random): Creation {
  const groups = GROUPS.slice(0, 1 + random.below(3)).map((group) => ({
    name: random.chance(96) ? group : random.pick(['leader', '', 'A b']),
    minReplicas: random.chance(96) ? random.below(3) : -1,
    podReferences: random.chance(50)
      ? []
      : random.list(3, () => ({
          namespace: random.chance(95) ? 'ml' : 'web',
          name: `${random.pick(GROUPS)}-${random.below(4)}`,
        })),
  }));
  const types = ['Initialized', 'Scheduled', 'Ready', 'DisruptionTarget'] as const;
  const conditions = random.list(2, () => ({
    type: random.pick(types),
    status: random.pick(['True', 'False', 'Unknown'] as const),
    reason: 'PodGangPodsCreated',
    message: 'as it is',
    lastTransitionTime: '2026-06-01T12:00:00Z',
  }));
  const unique = [...new Map(conditions.map((one) => [one.type, one])).values()];
  return {
    metadata: { namespace: 'ml', name, labels: { team: 'a' }, annotations: {} },
    spec: { podgroups: groups, unknownField: { kept: true } },
    ...(random.chance(40) ? { status: { phase: 'Pending', conditions: unique } } : {}),
  };
}

function pod(index: number, random: Random): Creation {
  const group = random.pick(GROUPS);
  const bound = random.chance(20);
  return {
    metadata: {
      namespace: random.chance(95) ? 'ml' : 'web',
      name: `${group}-${index % 4}`,
      labels: {
        'grove.io/podgang': random.chance(92) ? 'train' : 'base',
        'grove.io/podclique': random.chance(92) ? group : random.pick(GROUPS),
        ...(random.chance(15) ? { 'grove.io/base-podgang': random.pick(['base', 'train', 'nobody']) } : {}),
      },
      annotations: {},
    },
    spec: {
      schedulingGates: [
        ...(bound || random.chance(10) ? [] : [{ name: GATE }]),
        ...(random.chance(10) ? [{ name: 'a/b' }] : []),
      ],
      schedulerName: random.chance(92) ? SCHEDULER : 'kai-scheduler',
      ...(bound ? { nodeName: 'node-1' } : {}),
    },
    status: { phase: bound ? random.pick(['Running', 'Failed']) : 'Pending' },
  };
}

/** The loop over that store until it rests, with every invariant held after each write. @returns what became of it */
export function runStored({ gangs, pods, backend: given, deeds }: Stored, judge: Judge): string[] {
  const store = new ModelStore();
  const invariants = new Invariants(store, SCHEDULER);
  let backend = given;
  invariants.releaseOrder = backend.releaseOrder;
  const create = (creation: Creation): void => {
    store.create('pod', creation);
    const created = store.objects.pod.get(
      `${creation.metadata.namespace}/${creation.metadata.name}`,
    ) as unknown as Draft;
    // Who is free from the start was let go by somebody else.
    if (!created.spec.schedulingGates.some(({ name }) => name === GATE))
      invariants.excused.add(created.metadata.uid);
  };
  for (const one of gangs) store.create('gang', one);
  for (const one of pods) create(one);
  const leader = new Leader(store, judge);
  leader.listPage(() => true);
  leader.finishLists();
  invariants.stepped();

  const words = new Set<string>();
  const rest = (): void => {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const length = store.log.length;
      for (const key of store.objects.gang.keys()) {
        leader.follow('gang', Infinity);
        leader.follow('pod', Infinity);
        const plan = leader.reconcile(key, backend);
        for (const { message = '' } of plan.status?.conditions ?? []) mustBeClean(message, 'a condition');
        while (leader.tasks.length > 0) {
          leader.work('none', (write, run) => invariants.around(leader, write, run));
          invariants.stepped();
        }
      }
      store.clock += 60;
      if (store.log.length === length) return;
    }
    must(false, `no rest after ${MOST_ROUNDS} rounds`);
  };

  rest();
  for (const deed of deeds) {
    backend = happen(deed, { store, invariants, backend, pods, create });
    invariants.stepped();
    rest();
  }
  if (invariants.writes.references > 0) words.add('referenced');
  if (invariants.writes.ungate > 0) words.add('released');
  for (const key of store.objects.gang.keys())
    if (store.gang(key)?.conditions.some(({ type, status }) => type === 'Initialized' && status === 'True'))
      words.add('formed');
  return [...words];
}

function happen(
  { what, pod: index }: Deed,
  world: {
    readonly store: ModelStore;
    readonly invariants: Invariants;
    readonly backend: BackendState;
    readonly pods: readonly Creation[];
    readonly create: (creation: Creation) => void;
  },
): BackendState {
  const { store, backend, pods, create } = world;
  const keys = [...store.objects.pod.keys()];
  const key = keys[index % Math.max(keys.length, 1)];
  const one = pods[index % Math.max(pods.length, 1)];
  if (what === 'backend') return { ...backend, ready: true, objectsExist: true };
  if (what === 'add') {
    if (one !== undefined && !store.objects.pod.has(`${one.metadata.namespace}/${one.metadata.name}`))
      create(one);
  } else if (key !== undefined && what === 'remove') store.remove('pod', key);
  else if (key !== undefined)
    store.edit('pod', key, (draft) => {
      if (what === 'bind' && podOf(draft as unknown as JsonObject).gates.length === 0)
        draft.spec.nodeName = 'node-1';
      if (what === 'fail') draft.status = { ...draft.status, phase: 'Failed' };
      if (what === 'ready' && draft.spec.nodeName !== undefined)
        draft.status = { ...draft.status, phase: 'Running' };
    });
  return backend;
}
