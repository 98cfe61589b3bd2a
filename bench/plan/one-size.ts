// One size of cluster, in a process of its own: `node --expose-gc one-size.ts NODES VARIANT SHAPES ROUNDS NEAR` prints JSON.
import type { JsonObject } from '../../src/json/json.ts';
import { planPreemption } from '../../src/preemption/plan.ts';
import { preemptorOf } from '../../src/preemption/preemptor.ts';
import { readSnapshotPod } from '../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../src/preemption/read/read-snapshot.ts';
import { FieldReader } from '../../src/k8s/field-reader.ts';
import type { Variant } from '../../src/preemption/variants.ts';

const PODS_PER_NODE = 10;
const GANG = 64;

/**
 * Who minds whom: nobody; the gang wants to be spread over nodes and zones; a Pod on each node wants no Pod of the gang there.
 */
export type Near = 'nobody' | 'spread' | 'anti-affinity';

const takesGang = { matchLabels: { 'grove.io/podgang': 'new' } };
const AWAY: JsonObject = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'host', namespaces: ['team-0'], labelSelector: takesGang },
    ],
  },
};
const SPREAD: JsonObject[] = ['host', 'zone'].map((topologyKey) => ({
  ...{ topologyKey, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: takesGang },
}));

/** What one size costs. */
export interface SizeCost {
  readonly milliseconds: readonly number[];
  /** What the process took of its processors meanwhile, which says the same on a machine that has other things to do. */
  readonly cpuMilliseconds: readonly number[];
  /** The most that the heap held beyond the snapshot. */
  readonly mib: number;
  readonly victims: number;
}

function* objectsOf(nodes: number, members: number, near: Near): Generator<JsonObject> {
  for (let at = 0; at < nodes; at += 1) {
    const name = `node-${String(at).padStart(5, '0')}`;
    yield {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { host: name, zone: `z${at % 3}` } },
      status: { allocatable: { cpu: '64', memory: '512Gi', pods: '110', 'nvidia.com/gpu': '8' } },
    };
    for (let index = 0; index < PODS_PER_NODE; index += 1)
      yield {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `pod-${at}-${index}`,
          namespace: `team-${at % 20}`,
          labels: { app: `a${index % 5}` },
        },
        spec: {
          nodeName: name,
          priority: (at * 7 + index) % 40,
          ...(near === 'anti-affinity' && index === 0 ? { affinity: AWAY } : {}),
          containers: [
            {
              name: 'c',
              resources: {
                requests: { cpu: '6', memory: '40Gi', ...(index < 8 ? { 'nvidia.com/gpu': '1' } : {}) },
              },
            },
          ],
        },
        status: { phase: 'Running', startTime: new Date(1e12 + at * 1000 + index).toISOString() },
      };
  }
  for (let team = 0; team < 20; team += 1)
    yield {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'a1', namespace: `team-${team}` },
      spec: { selector: { matchLabels: { app: 'a1' } } },
      status: { disruptionsAllowed: 3 },
    };
  yield {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind: 'PodGroup',
    metadata: { name: 'new', namespace: 'team-0' },
    spec: { priority: 50, schedulingPolicy: { gang: { minCount: members } } },
  };
}

/** @param shape whose Pods ask for a core less than those of the one before */
const member = (index: number, shape: number, near: Near): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `new-${index}`,
    namespace: 'team-0',
    labels: { 'grove.io/podgang': 'new', 'grove.io/podclique': 'worker' },
  },
  spec: {
    priority: 50,
    schedulingGroup: { podGroupName: 'new' },
    ...(near === 'spread' ? { topologySpreadConstraints: SPREAD } : {}),
    containers: [{ name: 'c', resources: { requests: { cpu: String(32 - shape), 'nvidia.com/gpu': '8' } } }],
  },
});

function measure(nodes: number, variant: Variant, shapes: number, rounds: number, near: Near): SizeCost {
  const members = Math.min(GANG, nodes);
  const { snapshot, context, faults } = readSnapshot(objectsOf(nodes, members, near));
  if (faults.length > 0) throw new Error(JSON.stringify(faults[0]));
  const pods = Array.from({ length: members }, (_, index) =>
    readSnapshotPod(member(index, index % shapes, near), context, new FieldReader('Pod')),
  );
  const preemptor = preemptorOf(pods, snapshot, variant);
  const milliseconds: number[] = [];
  const cpuMilliseconds: number[] = [];
  let [most, victims] = [0, 0];
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('start it with --expose-gc');
  for (let round = 0; round <= rounds; round += 1) {
    collect();
    const before = process.memoryUsage().heapUsed;
    const since = performance.now();
    const cpuBefore = process.cpuUsage();
    const found = planPreemption(preemptor, snapshot, variant);
    // The first time everything is compiled; people wait for that once.
    if (round > 0) {
      milliseconds.push(performance.now() - since);
      const { user, system } = process.cpuUsage(cpuBefore);
      cpuMilliseconds.push((user + system) / 1000);
    }
    most = Math.max(most, process.memoryUsage().heapUsed - before);
    if (!found.feasible) throw new Error(`${nodes} nodes: the gang does not fit`);
    victims = found.victims.length;
  }
  return { milliseconds, cpuMilliseconds, mib: most / 2 ** 20, victims };
}

const [nodes = '', variant = '', shapes = '', rounds = '', near = 'nobody'] = process.argv.slice(2);
process.stdout.write(
  JSON.stringify(measure(Number(nodes), variant as Variant, Number(shapes), Number(rounds), near as Near)),
);
