/** What the planner says, and what kube-scheduler does with the same cluster; the verbs that ask a live one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { JsonObject } from '../../src/api/json.ts';
import { ClusterState } from '../../src/preemption/cluster-state.ts';
import { plan } from '../../src/preemption/plan.ts';
import { judgeFor } from '../../src/preemption/predicates/predicates.ts';
import { preemptorOf } from '../../src/preemption/preemptor-of.ts';
import { readPod } from '../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../src/preemption/read/read-snapshot.ts';
import { Reading } from '../../src/gang/reading.ts';
import { Scores } from '../../src/preemption/scores.ts';
import { inLength } from '../support/length.ts';
import { Random } from '../support/random.ts';
import type { Client, KubeList, KubeObject } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { verb } from './support/muster-cli.ts';
import { PLACED, SAME_PRIORITY, VARIANT } from './support/native-gangs.ts';
import { stories } from './support/user-stories.ts';
import { priorityClasses, randomCluster, type RandomCluster } from './support/random-cluster.ts';

/** More, or others, by hand. */
const CASES = Number(process.env['TESTING_MUSTER_CASES'] ?? inLength({ short: 10, long: 30 }));
const SEED = Number(process.env['TESTING_MUSTER_SEED'] ?? 5777);

/**
 * kube-scheduler keeps the Pods of a unit, and the budgets, in maps: which of a unit's Pods charges its budget first is left
 * to chance, and 1.36 stops at the first that breaks one. Of nodes that it likes as much it takes any. So many other orders are tried where the usual one differs.
 */
const ORDERS = 50;

jest.setTimeout(60_000 + CASES * 20_000);

/** The gang starts, waits for another attempt with nobody gone for it any more, or is refused. */
type Ending = 'starts' | 'waits' | 'never';

interface Outcome {
  readonly ends: Ending;
  /** Names of running Pods that went, sorted. */
  readonly victims: readonly string[];
  /** Of a single Pod that fits as it is: where it may go, or went. */
  readonly nodes: readonly string[] | undefined;
}

interface StoredPod extends KubeObject {
  readonly spec: { readonly nodeName?: string };
}
interface StoredGroup extends KubeObject {
  readonly status?: { readonly conditions?: readonly { type: string; status: string; message: string }[] };
}

clusterSuite('the planner beside kube-scheduler', () => {
  let plane: ControlPlane;

  beforeAll(async () => {
    // Without controllers: nobody works out the budgets' status anew, and no Pod is made again.
    plane = await startControlPlane({ scheduler: true });
    for (const one of priorityClasses) await plane.client.ok('POST', pathOf(one), one);
  }, 120_000);
  afterAll(() => plane?.stop(), 60_000);

  test(`${CASES} random clusters: feasible alike, and the same victims`, async () => {
    const differences: object[] = [];
    const chance: number[] = [];
    const letLie: number[] = [];
    const waiting: number[] = [];
    const seen = { fits: 0, preempts: 0, never: 0 };
    const kinds = { alone: 0, 'in one domain': 0, 'of two shapes': 0 };
    let feasibleAlike = 0;
    for (let index = 0; index < CASES; index += 1) {
      const made = randomCluster(new Random(SEED + index), `case-${index}`);
      const planned = plannedFor(made);
      const done = await play(plane.client, made, `case-${index}`).catch((error: unknown) => {
        if (!(error instanceof Error) || !LET_LIE.test(error.message)) throw error;
        letLie.push(SEED + index);
        const again = `again-${index}`;
        return play(plane.client, randomCluster(new Random(SEED + index), again), again);
      });
      if (planned.ends === 'waits') waiting.push(SEED + index);
      seen[planned.ends === 'never' ? 'never' : planned.victims.length === 0 ? 'fits' : 'preempts'] += 1;
      if (made.gang === undefined) kinds.alone += 1;
      if (/schedulingConstraints/.test(JSON.stringify(made.gang ?? ''))) kinds['in one domain'] += 1;
      if (new Set(made.wanting.map(({ spec }) => JSON.stringify(spec))).size > 1) kinds['of two shapes'] += 1;
      if (planned.ends === done.ends) feasibleAlike += 1;
      if (agree(planned, done)) continue;
      const order = new Random(index);
      const byChance = Array.from({ length: ORDERS }, () => plannedFor(made, order));
      if (byChance.some((other) => agree(other, done))) chance.push(SEED + index);
      else differences.push({ seed: SEED + index, planned, done });
    }
    process.stderr.write(
      `the planner beside kube-scheduler, ${CASES} clusters: ${JSON.stringify({ ...seen, ...kinds })}; feasible alike ${feasibleAlike}, victims alike ${CASES - chance.length - differences.length}, left to chance ${chance.length} (seeds ${chance.join(', ') || 'none'}), different ${differences.length}, tried twice ${letLie.length}, left waiting ${waiting.join(', ') || 'none'}\n`,
    );
    expect(differences).toEqual([]);
    expect(letLie.length).toBeLessThanOrEqual(Math.ceil(CASES / 100));
    // A generator that only makes one kind of answer would show nothing.
    expect(Math.min(...Object.values(seen), ...Object.values(kinds))).toBeGreaterThan(0);
  });

  test.each(stories.map((story, index) => ({ ...story, index })))(
    'user story: $what',
    async ({ made, victims, index }) => {
      const namespace = `story-${index}`;
      const story = made(namespace);
      expect(plannedFor(story)).toMatchObject({ ends: 'starts', victims });
      expect(await play(plane.client, story, namespace)).toMatchObject({ ends: 'starts', victims });
    },
  );

  test('muster plan asks a live cluster, and says the same of a snapshot of it', async () => {
    const namespace = 'live';
    const made = randomCluster(new Random(9010), namespace);
    await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    for (const one of [...made.nodes, ...made.groups, ...made.budgets, ...made.running])
      await stored(plane.client, one);
    const folder = await mkdtemp(join(tmpdir(), 'plan-'));
    try {
      const wanted = join(folder, 'wanted.json');
      const snapshot = join(folder, 'cluster.json');
      await writeFile(wanted, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: made.wanting }));
      const live = await verb(['plan', '-f', wanted, '--kubeconfig', plane.kubeconfig, '-o', 'json']);
      const taken = await verb(['snapshot', '--kubeconfig', plane.kubeconfig]);
      expect(taken.code).toBe(0);
      await writeFile(snapshot, taken.out);
      const later = await verb(['plan', '-f', wanted, '--snapshot', snapshot, '-o', 'json']);
      const hidden = await verb(['snapshot', '--anonymous', '--kubeconfig', plane.kubeconfig]);
      expect(hidden.code).toBe(0);
      const [named, nameless] = [taken, hidden].map(
        ({ out }) => (JSON.parse(out) as { items: JsonObject[] }).items,
      );
      expect(nameless?.map(({ kind }) => kind)).toEqual(named?.map(({ kind }) => kind));
      expect(hidden.out).not.toContain(namespace);
      expect(live.code).toBe(4);
      expect(later).toEqual(live);
      expect((JSON.parse(live.out) as { victims: unknown[] }).victims.length).toBeGreaterThan(0);
    } finally {
      await rm(folder, { recursive: true });
      await cleared(plane.client, made, namespace);
    }
  });

  test('who may not look is told what it takes', async () => {
    const kubeconfig = await plane.kubeconfigFor('stranger');
    const { code, out } = await verb(['snapshot', '--kubeconfig', kubeconfig]);
    expect(code).toBe(1);
    expect(out).toContain(
      'fix: It takes the right to list these in all namespaces: nodes, pods, namespaces, persistentvolumes, persistentvolumeclaims, poddisruptionbudgets.policy, priorityclasses.scheduling.k8s.io, podgangs.scheduler.grove.io, podgroups.scheduling.k8s.io. Somebody who has it can write a snapshot for you: muster snapshot > cluster.json',
    );
    expect(out).toContain('error[CLUSTER_REFUSED]: ');
  });
});

/** kube-scheduler chooses by chance among nodes that it likes as much. */
const agree = (planned: Outcome, done: Outcome): boolean =>
  planned.ends === done.ends &&
  JSON.stringify(planned.victims) === JSON.stringify(done.victims) &&
  (planned.nodes === undefined || done.nodes?.every((name) => planned.nodes?.includes(name)) === true);

/** @param order brings nodes, Pods and budgets into another order than that of their names */
function plannedFor(made: RandomCluster, order?: Random): Outcome {
  const { nodes, groups, budgets, running, gang, wanting } = made;
  const {
    snapshot: byName,
    faults,
    context,
  } = readSnapshot([
    ...nodes,
    ...groups,
    ...budgets,
    ...running,
    ...(gang === undefined ? [] : [gang]),
    ...priorityClasses,
  ]);
  expect(faults).toEqual([]);
  const mixed = <T>(all: readonly T[]): readonly T[] => (order === undefined ? all : shuffled(all, order));
  const snapshot = {
    ...byName,
    ...{ nodes: mixed(byName.nodes), pods: mixed(byName.pods), budgets: mixed(byName.budgets) },
  };
  const pods = wanting.map((one) => readPod(one, context, new Reading('Pod')));
  const { fits, feasible, victims, refusal } = plan(preemptorOf(pods, snapshot, VARIANT), snapshot, VARIANT);
  const [first] = pods;
  const state = new ClusterState(snapshot);
  const judge = first && judgeFor(first, state);
  // Where room is found beside everybody it is not found at once; and for a gang that would not fit after all nobody goes twice.
  const waits = refusal?.why === 'EvictsInVain' || (feasible && !fits && victims.length === 0);
  return {
    ends: waits ? 'waits' : feasible ? 'starts' : 'never',
    victims: victims.flatMap(({ unit }) => unit.pods.map(({ name }) => name)).sort(),
    nodes:
      gang === undefined && fits && first !== undefined
        ? new Scores(
            first,
            state.nodes.filter((node) => judge?.(node) === undefined),
            state,
          )
            .best()
            .map(({ node }) => node.name)
        : undefined,
  };
}

const shuffled = <T>(all: readonly T[], random: Random): T[] =>
  all
    .map((one) => [random.below(1_000_000), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);

/** Makes the cluster real, lets the scheduler decide, and takes everything away again. */
async function play(client: Client, made: RandomCluster, namespace: string): Promise<Outcome> {
  const { nodes, groups, budgets, running, gang, wanting } = made;
  await client.ok('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  for (const one of nodes) await stored(client, one);
  await Promise.all([...groups, ...budgets].map((one) => stored(client, one)));
  await Promise.all(running.map((one) => stored(client, one)));
  await seenByScheduler(client, namespace);
  if (gang !== undefined) await stored(client, gang);
  for (const one of wanting) await stored(client, one);

  const left = async (): Promise<StoredPod[]> =>
    (await client.ok<KubeList<StoredPod>>('GET', `/api/v1/namespaces/${namespace}/pods`))
      .items as StoredPod[];
  try {
    const ends = await until<Ending>(
      `${namespace}: the scheduler has decided`,
      async () => {
        const all = (await left()).filter(({ metadata }) => metadata.name.startsWith('w-'));
        if (all.every(({ spec }) => spec.nodeName !== undefined)) return 'starts';
        const asked = gang ?? wanting[0] ?? {};
        const { status } = await client.ok<StoredGroup>('GET', pathOf(asked, true));
        const said = status?.conditions?.find(({ type }) => ['PodScheduled', PLACED].includes(type));
        if (said?.status === 'False' && REFUSED.test(said.message)) return 'never';
        if (said?.status === 'False' && NOBODY_GOES.test(said.message)) return 'waits';
        // Shown where the wait runs out.
        throw new Error(said?.message ?? 'nothing said yet');
      },
      { withinMs: 30_000, everyMs: 20 },
    );
    const rest = await left();
    const names = new Set(rest.map(({ metadata }) => metadata.name));
    const bound = rest.flatMap(({ metadata, spec }) =>
      gang === undefined && metadata.name === 'w-0' && spec.nodeName !== undefined ? [spec.nodeName] : [],
    );
    const victims = running.map((one) => nameOf(one)).filter((name) => !names.has(name));
    return { ends, victims: victims.sort(), nodes: bound };
  } finally {
    await cleared(client, made, namespace);
  }
}

/** What the scheduler says where preemption does not help either: the reason of that comes after that of the gang. */
const REFUSED = SAME_PRIORITY
  ? /pod group preemption: (?!found a placement|ongoing preemption)|^0\/.* preemption: 0\/\d+ nodes are available: /
  : /pod group is unschedulable, \S|no feasible placements found, \S|preemption: 0\/\d+ nodes are available: /;

/**
 * kube-scheduler 1.37 has found nodes beside everybody for a gang that it could not place as it went along. It nominates them, and
 * tries again at the next change in the cluster or after five minutes: nobody goes, whose going would be a change. It comes
 * to that, too, once it has evicted in vain.
 */
const NOBODY_GOES = /found a placement for podgroup, preempting 0 victims/;

/**
 * Now and then kube-scheduler 1.36 calls a gang unschedulable, without a word of preemption, and says nothing more for half
 * a minute. Of the same cluster made anew it decides at once.
 */
const LET_LIE = /the scheduler has decided; last error: .*pod group is unschedulable$/;

const nameOf = (object: JsonObject): string => (object['metadata'] as { name: string }).name;

const PLURALS: Readonly<Record<string, string>> = {
  Node: 'nodes',
  Pod: 'pods',
  PodGroup: 'podgroups',
  PodDisruptionBudget: 'poddisruptionbudgets',
  PriorityClass: 'priorityclasses',
};

function pathOf(object: JsonObject, named = false): string {
  const { apiVersion, kind } = object as { apiVersion: string; kind: string };
  const { name, namespace } = object['metadata'] as { name: string; namespace?: string };
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const inside = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${root}${inside}/${PLURALS[kind] ?? ''}${named ? `/${name}` : ''}`;
}

/** Made, with its status, which a creation leaves out. */
async function stored(client: Client, object: JsonObject): Promise<void> {
  await client.ok('POST', pathOf(object), object);
  const { status } = object;
  if (status === undefined) return;
  const ready = object['kind'] === 'Node' ? { conditions: [{ type: 'Ready', status: 'True' }] } : {};
  await client.ok('PATCH', `${pathOf(object, true)}/status`, {
    status: { ...(status as JsonObject), ...ready },
  });
  if (object['kind'] !== 'Node') return;
  // Every new node is tainted as not ready by the API server.
  const { taints = null } = (object['spec'] ?? {}) as { taints?: unknown };
  await client.ok('PATCH', pathOf(object, true), { spec: { taints } });
}

/** A Pod that the scheduler has bound after all others were made: it has seen them, and the last node. */
async function seenByScheduler(client: Client, namespace: string): Promise<void> {
  const sentinel = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `${namespace}-sentinel`, labels: { sentinel: namespace } },
  };
  await stored(client, {
    ...sentinel,
    spec: {},
    status: { allocatable: { pods: '1' }, capacity: { pods: '1' } },
  });
  const path = `/api/v1/namespaces/${namespace}/pods`;
  await client.ok('POST', path, {
    metadata: { name: 'sentinel' },
    spec: { containers: [{ name: 'c', image: 'example.test/none' }], nodeSelector: { sentinel: namespace } },
  });
  await until(
    'the scheduler has seen the cluster',
    async () => {
      const { spec } = await client.ok<StoredPod>('GET', `${path}/sentinel`);
      return spec.nodeName !== undefined;
    },
    { everyMs: 10 },
  );
  await client.ok('DELETE', `/api/v1/nodes/${namespace}-sentinel`);
  await client.ok('DELETE', `${path}/sentinel`, { gracePeriodSeconds: 0 });
}

async function cleared(
  client: Client,
  { nodes, groups, gang }: RandomCluster,
  namespace: string,
): Promise<void> {
  await client.ok('DELETE', `/api/v1/namespaces/${namespace}/pods`, { gracePeriodSeconds: 0 });
  await Promise.all(nodes.map((one) => client.ok('DELETE', pathOf(one, true))));
  // The controller that takes this finalizer away does not run.
  for (const one of [...groups, ...(gang === undefined ? [] : [gang])]) {
    await client.ok('PATCH', pathOf(one, true), { metadata: { finalizers: null } });
    await client.ok('DELETE', pathOf(one, true));
  }
}
