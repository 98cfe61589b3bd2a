/** What the planner says, and what kube-scheduler does with the same cluster; the verbs that ask a live one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { JsonObject } from '../../src/json/json.ts';
import { ClusterState } from '../../src/preemption/cluster-state.ts';
import { planPreemption } from '../../src/preemption/plan.ts';
import { judgeFor } from '../../src/preemption/predicates/predicates.ts';
import { preemptorOf } from '../../src/preemption/preemptor.ts';
import { readSnapshotPod } from '../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../src/preemption/read/read-snapshot.ts';
import { FieldReader } from '../../src/k8s/field-reader.ts';
import { Scores } from '../../src/preemption/scores.ts';
import { inLength } from '../support/length.ts';
import { Random } from '../support/random.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { verb } from './support/muster-cli.ts';
import { VARIANT } from './support/native-gangs.ts';
import { cleared, LET_LIE, pathOf, play, stored, type Outcome } from './support/played-cluster.ts';
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
    const stirred: number[] = [];
    const inVain: number[] = [];
    const wentOn: number[] = [];
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
      if (done.stirred) stirred.push(SEED + index);
      if (planned.ends === 'waits') inVain.push(SEED + index);
      seen[planned.ends === 'never' ? 'never' : planned.victims.length === 0 ? 'fits' : 'preempts'] += 1;
      if (made.gang === undefined) kinds.alone += 1;
      if (/schedulingConstraints/.test(JSON.stringify(made.gang ?? ''))) kinds['in one domain'] += 1;
      if (new Set(made.wanting.map(({ spec }) => JSON.stringify(spec))).size > 1) kinds['of two shapes'] += 1;
      if (planned.ends === done.ends) feasibleAlike += 1;
      if (agree(planned, done)) continue;
      const order = new Random(index);
      const byChance = Array.from({ length: ORDERS }, () => plannedFor(made, order));
      if (byChance.some((other) => agree(other, done))) chance.push(SEED + index);
      else if ([planned, ...byChance].some((other) => isBegunBy(other, done))) wentOn.push(SEED + index);
      else differences.push({ seed: SEED + index, planned, done });
    }
    process.stderr.write(
      `the planner beside kube-scheduler, ${CASES} clusters: ${JSON.stringify({ ...seen, ...kinds })}; feasible alike ${feasibleAlike}, victims alike ${CASES - chance.length - wentOn.length - differences.length}, left to chance ${chance.length} (seeds ${chance.join(', ') || 'none'}), different ${differences.length}, tried twice ${letLie.length}, in vain ${inVain.join(', ') || 'none'}, and went on ${wentOn.join(', ') || 'none'}, tried again late ${stirred.join(', ') || 'none'}\n`,
    );
    expect(differences).toEqual([]);
    expect(letLie.length + wentOn.length).toBeLessThanOrEqual(Math.ceil(CASES / 100));
    // A generator that only makes one kind of answer would show nothing.
    expect(Math.min(...Object.values(seen), ...Object.values(kinds))).toBeGreaterThan(0);
  });

  test.each(stories.map((story, index) => ({ ...story, index })))(
    'user story: $what',
    async ({ made, victims, ends = 'starts', index }) => {
      const namespace = `story-${index}`;
      const story = made(namespace);
      expect(plannedFor(story)).toMatchObject({ ends, victims });
      expect(await play(plane.client, story, namespace)).toMatchObject({ ends, victims });
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
      const asked = ['plan', '-f', wanted, '--variant', VARIANT, '-o', 'json'];
      const live = await verb([...asked, '--kubeconfig', plane.kubeconfig]);
      const taken = await verb(['snapshot', '--kubeconfig', plane.kubeconfig]);
      expect(taken.code).toBe(0);
      await writeFile(snapshot, taken.out);
      const later = await verb([...asked, '--snapshot', snapshot]);
      const document = await verb(['plan', '-f', wanted, '--snapshot', snapshot]);
      const hidden = await verb(['snapshot', '--anonymous', '--kubeconfig', plane.kubeconfig]);
      expect(hidden.code).toBe(0);
      const [named, nameless] = [taken, hidden].map(
        ({ out }) => (JSON.parse(out) as { items: JsonObject[] }).items,
      );
      expect(nameless?.map(({ kind }) => kind)).toEqual(named?.map(({ kind }) => kind));
      expect(hidden.out).not.toContain(namespace);
      expect(live.code).toBe(4);
      expect(later).toEqual(live);
      expect(document.out).toContain(
        `kube-scheduler preempts by itself: --variant ${VARIANT} tells what it does`,
      );
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

/** Who evicts in vain tries again, with those gone, and may find that others have to go elsewhere; a plan is of the first attempt. */
const isBegunBy = (planned: Outcome, { ends, victims }: Outcome): boolean =>
  planned.ends === 'waits' && ends === 'waits' && planned.victims.every((name) => victims.includes(name));

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
  const pods = wanting.map((one) => readSnapshotPod(one, context, new FieldReader('Pod')));
  const { fits, feasible, victims, refusal } = planPreemption(
    preemptorOf(pods, snapshot, VARIANT),
    snapshot,
    VARIANT,
  );
  const [first] = pods;
  const state = new ClusterState(snapshot);
  const judge = first && judgeFor(first, state);
  return {
    ends: refusal?.why === 'EvictsInVain' ? 'waits' : feasible ? 'starts' : 'never',
    stirred: false,
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
