import { request } from 'node:https';
import type { JsonObject } from '../../src/api/json.ts';
import { plan } from '../../src/preemption/plan.ts';
import { preemptorOf } from '../../src/preemption/preemptor-of.ts';
import { readPod } from '../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../src/preemption/read/read-snapshot.ts';
import { Reading } from '../../src/gang/reading.ts';
import type { ControlPlane } from '../../test/cluster/control-plane/control-plane.ts';
import { readKubeconfig } from '../../test/cluster/control-plane/kubeconfig.ts';
import { startControlPlane } from '../../test/cluster/control-plane/start.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { inParallel } from '../measure/in-parallel.ts';

const PODS_PER_NODE = 4;
const WANTING = 10;
const WORKERS = 16;

/** The same preemption by both. */
export interface Beside {
  /** Of kube-scheduler's own metric. */
  readonly schedulerMs: number;
  readonly planMs: number;
}

/**
 * Single Pods on a full cluster, each of which preempts: how long kube-scheduler says that its search for victims took
 * (the extension point PostFilter; of the preemption for a group 1.36 measures no time), and how long the planner needs
 * for a snapshot of the same objects, in the same run.
 */
export async function besideScheduler(nodes: number, rounds: number): Promise<Beside> {
  const plane = await startControlPlane({ scheduler: true });
  try {
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
      Array.from({ length: PODS_PER_NODE }, (_, index) =>
        pod(`${node}-${index}`, 10, '2', { nodeName: node }),
      ),
    );
    await inParallel(running, WORKERS, (one) => client.ok('POST', '/api/v1/namespaces/full/pods', one));
    const wanting = Array.from({ length: WANTING }, (_, index) => pod(`w-${index}`, 100, '8', {}));
    const planMs = await timeOfPlan(plane, wanting[0] ?? {}, rounds);
    for (const one of wanting) {
      await client.ok('POST', '/api/v1/namespaces/full/pods', one);
      const { name } = one['metadata'] as { name: string };
      await until(`${name} has its place`, async () => {
        const { spec } = await client.ok<{ spec: { nodeName?: string } }>(
          'GET',
          `/api/v1/namespaces/full/pods/${name}`,
        );
        return spec.nodeName !== undefined;
      });
    }
    return { schedulerMs: await preemptionMs(plane), planMs };
  } finally {
    await plane.stop();
  }
}

async function timeOfPlan({ client }: ControlPlane, wanting: JsonObject, rounds: number): Promise<number> {
  const objects: JsonObject[] = [];
  for (const [path, kind] of Object.entries({ '/api/v1/nodes': 'Node', '/api/v1/pods': 'Pod' })) {
    const { items } = await client.ok<{ items: JsonObject[] }>('GET', path);
    objects.push(...items.map((one) => ({ ...one, apiVersion: 'v1', kind })));
  }
  const { snapshot, context } = readSnapshot(objects);
  const spec = { ...(wanting['spec'] as JsonObject), priority: 100 };
  const preemptor = preemptorOf(
    [readPod({ ...wanting, spec }, context, new Reading('Pod'))],
    snapshot,
    'kube-1.36',
  );
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const since = performance.now();
    const found = plan(preemptor, snapshot, 'kube-1.36');
    if (found.victims.length !== PODS_PER_NODE) throw new Error('a whole node has to make room');
    // The first time everything is compiled.
    if (round > 0) times.push(performance.now() - since);
  }
  return times.reduce((sum, ms) => sum + ms, 0) / times.length;
}

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

/** The mean of those that found victims. */
async function preemptionMs(plane: ControlPlane): Promise<number> {
  const text = await schedulerMetrics(plane);
  const valueOf = (what: string): number => {
    const line = new RegExp(
      `^scheduler_framework_extension_point_duration_seconds_${what}\\{extension_point="PostFilter",.*status="Success"\\} (.*)$`,
      'm',
    );
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
