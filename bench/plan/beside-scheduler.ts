import { request } from 'node:https';
import type { JsonObject } from '../../src/json/json.ts';
import { planPreemption } from '../../src/preemption/plan.ts';
import { preemptorOf } from '../../src/preemption/preemptor.ts';
import { readSnapshotPod } from '../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../src/preemption/read/read-snapshot.ts';
import { FieldReader } from '../../src/k8s/field-reader.ts';
import type { ControlPlane } from '../../test/cluster/control-plane/control-plane.ts';
import { readKubeconfig } from '../../test/cluster/control-plane/kubeconfig.ts';
import { GANGS } from '../../test/cluster/control-plane/releases.ts';
import { startControlPlane } from '../../test/cluster/control-plane/start.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { VARIANT } from '../../test/cluster/support/native-gangs.ts';
import { inParallel } from '../measure/in-parallel.ts';

const PODS_PER_NODE = 4;
const WANTING = 10;
/** Members of a gang; each needs a whole node. */
const MEMBERS = 8;
const WORKERS = 16;
const GROUPS = `/apis/${GANGS ?? ''}/namespaces/full/podgroups`;

/** The same preemption by both. */
export interface Beside {
  /** Of kube-scheduler's own metric. */
  readonly schedulerMs: number;
  readonly planMs: number;
}

/** Of its metrics: its search for the victims of one Pod; an attempt at a gang that ends with waiting for victims. */
const METRICS = {
  single:
    'scheduler_framework_extension_point_duration_seconds_WHAT\\{extension_point="PostFilter",.*status="Success"\\}',
  gang: 'scheduler_podgroup_scheduling_attempt_duration_seconds_WHAT\\{.*result="waiting_on_preemption"\\}',
} as const;

/**
 * Pods and gangs on a full cluster, each of which preempts: how long kube-scheduler says that it took, and how long the
 * planner needs for a snapshot of the same objects, in the same run. For single Pods the scheduler tells the time of its
 * search (the extension point PostFilter); for gangs that of the whole attempt, which looks for room first, as a plan does.
 */
export async function besideScheduler(
  nodes: number,
  rounds: number,
): Promise<Readonly<Record<keyof typeof METRICS, Beside>>> {
  // In 1.36 topology constraints would switch workload-aware preemption off.
  const featureGates = { TopologyAwareWorkloadScheduling: false };
  const plane = await startControlPlane({ scheduler: true, featureGates });
  try {
    await fill(plane, nodes);
    const singles = Array.from({ length: WANTING }, (_, index) => [pod(`w-${index}`, 100, '8', {})]);
    const gangs = Array.from({ length: WANTING }, (_, at) =>
      Array.from({ length: MEMBERS }, (_one, index) =>
        pod(`g-${at}-${index}`, 100, '8', { schedulingGroup: { podGroupName: `g-${at}` } }),
      ),
    );
    const single = await timeOfPlan(plane, singles[0] ?? [], rounds);
    for (const one of singles) await placed(plane, one);
    const gang = await timeOfPlan(plane, gangs[0] ?? [], rounds);
    for (const [at, members] of gangs.entries()) {
      await plane.client.ok('POST', GROUPS, group(`g-${at}`));
      await placed(plane, members);
    }
    return {
      single: { planMs: single, schedulerMs: await meanMs(plane, METRICS.single) },
      gang: { planMs: gang, schedulerMs: await meanMs(plane, METRICS.gang) },
    };
  } finally {
    await plane.stop();
  }
}

async function fill(plane: ControlPlane, nodes: number): Promise<void> {
  const { client } = plane;
  for (const value of [10, 100])
    await client.ok('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: `p${value}` },
      value,
    });
  await client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'full' } });
  const names = Array.from({ length: nodes }, (_, index) => `n-${String(index).padStart(4, '0')}`);
  await inParallel(names, WORKERS, (name) => plane.addNode(name, { cpu: 8 }));
  const running = names.flatMap((node) =>
    Array.from({ length: PODS_PER_NODE }, (_, index) => pod(`${node}-${index}`, 10, '2', { nodeName: node })),
  );
  await inParallel(running, WORKERS, (one) => client.ok('POST', '/api/v1/namespaces/full/pods', one));
}

/** Makes the Pods, and waits until each has a node. */
async function placed({ client }: ControlPlane, pods: readonly JsonObject[]): Promise<void> {
  for (const one of pods) await client.ok('POST', '/api/v1/namespaces/full/pods', one);
  for (const one of pods) {
    const { name } = one['metadata'] as { name: string };
    await until(`${name} has its place`, async () => {
      const { spec } = await client.ok<{ spec: { nodeName?: string } }>(
        'GET',
        `/api/v1/namespaces/full/pods/${name}`,
      );
      return spec.nodeName !== undefined;
    });
  }
}

async function timeOfPlan(
  { client }: ControlPlane,
  wanting: readonly JsonObject[],
  rounds: number,
): Promise<number> {
  const objects: JsonObject[] = [{ apiVersion: GANGS ?? '', kind: 'PodGroup', ...group('g-0') }];
  for (const [path, kind] of Object.entries({ '/api/v1/nodes': 'Node', '/api/v1/pods': 'Pod' })) {
    const { items } = await client.ok<{ items: JsonObject[] }>('GET', path);
    objects.push(...items.map((one) => ({ ...one, apiVersion: 'v1', kind })));
  }
  const { snapshot, context } = readSnapshot(objects);
  const pods = wanting.map((one) => {
    const spec = { ...(one['spec'] as JsonObject), priority: 100 };
    return readSnapshotPod({ ...one, spec }, context, new FieldReader('Pod'));
  });
  const preemptor = preemptorOf(pods, snapshot, VARIANT);
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const since = performance.now();
    const found = planPreemption(preemptor, snapshot, VARIANT);
    if (found.victims.length !== PODS_PER_NODE * pods.length)
      throw new Error('whole nodes have to make room');
    // The first time everything is compiled.
    if (round > 0) times.push(performance.now() - since);
  }
  return times.reduce((sum, ms) => sum + ms, 0) / times.length;
}

const group = (name: string): JsonObject => ({
  metadata: { name, namespace: 'full' },
  spec: { priorityClassName: 'p100', priority: 100, schedulingPolicy: { gang: { minCount: MEMBERS } } },
});

const pod = (name: string, priority: number, cpu: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'full' },
  spec: {
    containers: [{ name: 'c', image: 'example.test/none', resources: { requests: { cpu } } }],
    priorityClassName: `p${priority}`,
    terminationGracePeriodSeconds: 0,
    ...spec,
  },
});

/** The mean (ms) of a histogram of seconds. */
async function meanMs(plane: ControlPlane, metric: string): Promise<number> {
  const text = await schedulerMetrics(plane);
  const valueOf = (what: string): number => {
    const line = new RegExp(`^${metric.replace('WHAT', what)} (.*)$`, 'm');
    return Number(line.exec(text)?.[1] ?? NaN);
  };
  return (valueOf('sum') / valueOf('count')) * 1000;
}

async function schedulerMetrics({ schedulerUrl, kubeconfig }: ControlPlane): Promise<string> {
  const { identity } = await readKubeconfig(kubeconfig);
  const access =
    'token' in identity
      ? { headers: { authorization: `Bearer ${identity.token}` } }
      : { cert: identity.certificate, key: identity.key };
  return new Promise((resolve, reject) => {
    // It serves with a certificate that it made itself.
    const asked = request(`${schedulerUrl}/metrics`, { ...access, rejectUnauthorized: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve(text));
    });
    asked.on('error', reject).end();
  });
}
