import { setTimeout as delay } from 'node:timers/promises';
import { startFleet } from '../../src/controller/fleet.ts';
import type { KubeObject } from '../../src/kube/client/resources.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { LoopMetrics } from '../../src/telemetry/loop-metrics.ts';
import { figure, short, type Figure, type StageReport } from '../measure/figures.ts';
import { exactly } from '../measure/interval.ts';
import { FleetApi } from './fleet-api.ts';

export interface FleetTiming {
  readonly clusters: number;
  readonly bindings: number;
  /** That wait for a cluster which is full, and as many for another one. */
  readonly waiting: number;
}

/** The parts that can be asked for alone. */
export const FLEET_PARTS = ['fleet'] as const;

const MOST_SECONDS = 60;
const KIND = { apiVersion: 'batch/v1', kind: 'Job' };
const [WAITED_FOR, OTHER] = ['full-0', 'full-1'];
const LONGEST_MS = 10 * 60_000;

/**
 * The assigner on an API server in memory: how long it takes until all bindings of a fleet are placed, and who is judged
 * again when one cluster has more room.
 */
export async function measureFleet(
  { clusters, bindings, waiting }: FleetTiming,
  progress: (line: string) => void,
): Promise<StageReport> {
  const api = new FleetApi();
  for (let index = 0; index < clusters; index += 1) api.put('clusters', cluster(`c-${index}`, 400));
  for (const name of [WAITED_FOR, OTHER]) api.put('clusters', cluster(name ?? '', 1));
  for (let index = 0; index < bindings; index += 1) api.put('resourcebindings', binding(index));
  for (const name of [WAITED_FOR, OTHER])
    for (let index = 0; index < waiting; index += 1)
      api.put('resourcebindings', binding(index, `${name}-${index}`, name));

  const metrics = new LoopMetrics();
  const judged = async (): Promise<number> => valueOf(metrics, 'muster_fleet_bindings_judged_total');
  const began = { at: performance.now(), cpu: process.cpuUsage() };
  const loop = startFleet({
    client: api.client(),
    settings: {
      assigner: { schedulerName: 'muster' },
      leaderElection: {
        ...{ enabled: false, leaseDurationMs: 0, renewDeadlineMs: 0, retryPeriodMs: 0 },
        ...{ resourceName: '', resourceNamespace: '' },
      },
    },
    log: createLogger({ level: 'error', format: 'json' }),
    metrics,
    now: () => new Date(),
  });
  try {
    const all = bindings + 2 * waiting;
    await until(
      () => judged().then((count) => count >= all),
      `all ${all} bindings are judged`,
      () => progress(`fleet: ${api.patches} patches`),
    );
    await until(
      () => Promise.resolve(written(api) === all),
      'all are written',
      () => undefined,
    );
    const wall = (performance.now() - began.at) / 1000;
    const { user, system } = process.cpuUsage(began.cpu);
    const placed = api.all('resourcebindings').filter(({ spec }) => clustersOf(spec) > 0).length;
    if (placed !== bindings) throw new Error(`${placed} of ${bindings} bindings are placed`);
    const before = await judged();
    const since = performance.now();
    api.put('clusters', cluster(WAITED_FOR ?? '', 2));
    await until(
      () => judged().then((count) => count > before),
      'somebody is judged again',
      () => undefined,
    );
    let count = 0;
    // Until nothing more comes: whoever is judged without need comes within this time, too.
    for (let now = await judged(); now !== count; now = await judged()) {
      count = now;
      await delay(300);
    }
    const again = count - before;
    progress(`fleet: ${again} judged again, ${short((performance.now() - since) / 1000)} s`);
    if (again !== waiting) throw new Error(`${again} bindings were judged again, and ${waiting} wait for it`);
    const what = `${bindings.toLocaleString('en')} bindings among ${clusters.toLocaleString('en')} clusters`;
    const figures: Figure[] = [
      figure('fleet', `${what}: until all are placed, s`, exactly(wall)),
      figure('fleet', `${what}: CPU until all are placed, s`, exactly((user + system) / 1e6), {
        most: MOST_SECONDS,
      }),
      figure('fleet', `judged again for one cluster’s room, of ${waiting} that wait for it`, exactly(again), {
        most: waiting,
      }),
    ];
    return { tables: {}, figures };
  } finally {
    await loop.stop();
  }
}

const clustersOf = (spec: unknown): number =>
  ((spec as { clusters?: readonly unknown[] | null }).clusters ?? []).length;

const written = (api: FleetApi): number =>
  api
    .all('resourcebindings')
    .filter(({ status }) => ((status as { conditions?: unknown[] } | undefined)?.conditions ?? []).length > 0)
    .length;

async function valueOf(metrics: LoopMetrics, name: string): Promise<number> {
  const line = (await metrics.expose()).split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

async function until(done: () => Promise<boolean>, what: string, meanwhile: () => void): Promise<void> {
  const since = performance.now();
  for (let told = since; !(await done());) {
    if (performance.now() - since > LONGEST_MS) throw new Error(`in vain: ${what}`);
    if (performance.now() - told > 5_000) {
      told = performance.now();
      meanwhile();
    }
    await delay(20);
  }
}

const cluster = (name: string, cpu: number): KubeObject => ({
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name, uid: name, labels: { name } },
  spec: { syncMode: 'Push', region: `r-${name.length % 4}` },
  status: {
    apiEnablements: [{ groupVersion: KIND.apiVersion, resources: [{ name: 'jobs', kind: KIND.kind }] }],
    resourceSummary: {
      allocatable: { cpu: String(cpu), memory: '4Ti', pods: '10000', 'nvidia.com/gpu': '64' },
      allocated: { cpu: '0', memory: '64Gi', pods: '100' },
    },
  },
});

/** Every third is divided by Karmada's own rules, is a gang of one template, is one of two. */
function binding(index: number, name = `b-${index}`, only?: string): KubeObject {
  const requests = { resourceRequest: { cpu: '2', memory: '4Gi' } };
  const placement = {
    clusterAffinity: { labelSelector: { matchLabels: only === undefined ? {} : { name: only } } },
    replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' },
  };
  const kind = only === undefined ? index % 3 : 1;
  const numbers =
    kind === 2
      ? {
          components: [
            { name: 'master', replicas: 1, replicaRequirements: requests },
            { name: 'worker', replicas: 4, replicaRequirements: requests },
          ],
        }
      : { replicas: 8, replicaRequirements: requests };
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: {
      ...{ name, namespace: `n-${index % 50}`, uid: name, generation: 1 },
      labels: { 'propagationpolicy.karmada.io/permanent-id': 'p' },
      annotations:
        kind === 0
          ? {}
          : {
              'muster.dev/custom-scheduling-strategy': 'gang-divided',
              'muster.dev/min-available': kind === 2 ? 'worker=2' : '4',
            },
    },
    spec: {
      schedulerName: 'muster',
      resource: { ...KIND, namespace: `n-${index % 50}`, name, uid: name },
      placement,
      ...numbers,
    },
  };
}
