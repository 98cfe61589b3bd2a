import type { JsonObject } from '../../../src/json/json.ts';
import type { Client, KubeList, KubeObject } from '../control-plane/client.ts';
import { until } from '../control-plane/until.ts';
import { PLACED, SAME_PRIORITY } from './native-gangs.ts';
import type { RandomCluster } from './random-cluster.ts';

/** The gang starts; is tried again and again, with nobody gone for it any more; or is refused. */
export type Ending = 'starts' | 'waits' | 'never';

export interface Outcome {
  readonly ends: Ending;
  /** Names of running Pods that went, sorted. */
  readonly victims: readonly string[];
  /** Of a single Pod that fits as it is: where it may go, or went. */
  readonly nodes: readonly string[] | undefined;
  /** Whether the scheduler would have waited for minutes, had nothing happened that made it try again. */
  readonly stirred: boolean;
}

interface StoredPod extends KubeObject {
  readonly spec: { readonly nodeName?: string };
}
interface StoredGroup extends KubeObject {
  readonly status?: { readonly conditions?: readonly { type: string; status: string; message: string }[] };
}

/** Makes the cluster real, lets the scheduler decide, and takes everything away again. */
export async function play(client: Client, made: RandomCluster, namespace: string): Promise<Outcome> {
  const { nodes, groups, budgets, running, gang, wanting } = made;
  await client.ok('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  // First, since no sentinel shows that the scheduler knows a budget.
  await Promise.all([...groups, ...budgets].map((one) => stored(client, one)));
  for (const one of nodes) await stored(client, one);
  await Promise.all(running.map((one) => stored(client, one)));
  await seenByScheduler(client, namespace);
  // A gang that needs fewer Pods than it has would be begun before the scheduler has seen the last of them.
  const last = gang !== undefined && leastOf(gang) < wanting.length;
  if (gang !== undefined && !last) await stored(client, gang);
  for (const one of wanting) await stored(client, one);
  if (last) {
    await seenByScheduler(client, namespace);
    await stored(client, gang);
  }

  const left = async (): Promise<StoredPod[]> =>
    (await client.ok<KubeList<StoredPod>>('GET', `/api/v1/namespaces/${namespace}/pods`))
      .items as StoredPod[];
  try {
    let since: number | undefined;
    let stirred = 0;
    const ends = await until<Ending>(
      `${namespace}: the scheduler has decided`,
      async () => {
        const all = (await left()).filter(({ metadata }) => metadata.name.startsWith('w-'));
        if (all.every(({ spec }) => spec.nodeName !== undefined)) return 'starts';
        const asked = gang ?? wanting[0] ?? {};
        const { status } = await client.ok<StoredGroup>('GET', pathOf(asked, true));
        const said = status?.conditions?.find(({ type }) => ['PodScheduled', PLACED].includes(type));
        if (said?.status === 'False' && REFUSED.test(said.message)) return 'never';
        const found = FOUND.exec(said?.message ?? '')?.[1];
        if (found !== undefined) {
          since ??= Date.now();
          const waited = Date.now() - since;
          if (waited > WAITS_MS) return 'waits';
          // With victims it tries again by itself, as a rule.
          if (waited > (stirred + (found === '0' ? 0 : 1)) * STIRS_MS) {
            stirred += 1;
            await stir(client, made, `late-${stirred}`);
          }
        }
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
    return { ends, victims: victims.sort(), nodes: bound, stirred: stirred > 0 };
  } finally {
    await cleared(client, made, namespace);
  }
}

/** What the scheduler says where preemption does not help either: the reason of that comes after that of the gang. */
const REFUSED = SAME_PRIORITY
  ? /should have the same priority|pod group preemption: (?!found a placement|ongoing preemption)|^0\/.* preemption: 0\/\d+ nodes are available: /
  : /pod group is unschedulable, \S|no feasible placements found, \S|preemption: 0\/\d+ nodes are available: /;

/**
 * kube-scheduler 1.37 has found nodes for the gang once so many are gone, and tries it again as soon as something changes that
 * could help those of its Pods that it looked at, in the domain that it looked at first; else after five minutes. Where nobody
 * has to go, nothing changes; where that domain refused for another reason than for want of room, nobody's going is such a change.
 */
const FOUND = /found a placement for podgroup, preempting (\d+) victims/;
/** So often something happens then. */
const STIRS_MS = 3_000;
/** And if it was of no use for so long, it never will be: longer than the scheduler rests after several attempts. */
const WAITS_MS = 10_000;

/** A further Pod of the gang, which can be nowhere, and is changed: with one that was refused by nothing yet all of it is tried anew. */
async function stir(client: Client, { wanting }: RandomCluster, name: string): Promise<void> {
  const { metadata, spec } = (wanting[0] ?? {}) as { metadata: JsonObject; spec: JsonObject };
  const nowhere = { ...spec, nodeSelector: { nowhere: name } };
  const late = { ...wanting[0], metadata: { ...metadata, name }, spec: nowhere };
  await stored(client, late);
  await client.ok('PATCH', pathOf(late, true), { metadata: { labels: { changed: 'yes' } } });
}

/**
 * Now and then kube-scheduler 1.36 calls a gang unschedulable, without a word of preemption, and says nothing more for half
 * a minute. Of the same cluster made anew it decides at once.
 */
export const LET_LIE = /the scheduler has decided; last error: .*pod group is unschedulable$/;

const leastOf = ({ spec }: JsonObject): number =>
  (spec as { schedulingPolicy: { gang: { minCount: number } } }).schedulingPolicy.gang.minCount;

const nameOf = (object: JsonObject): string => (object['metadata'] as { name: string }).name;

const PLURALS: Readonly<Record<string, string>> = {
  Node: 'nodes',
  Pod: 'pods',
  PodGroup: 'podgroups',
  PodDisruptionBudget: 'poddisruptionbudgets',
  PriorityClass: 'priorityclasses',
};

export function pathOf(object: JsonObject, named = false): string {
  const { apiVersion, kind } = object as { apiVersion: string; kind: string };
  const { name, namespace } = object['metadata'] as { name: string; namespace?: string };
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const inside = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${root}${inside}/${PLURALS[kind] ?? ''}${named ? `/${name}` : ''}`;
}

/** Made, with its status, which a creation leaves out. */
export async function stored(client: Client, object: JsonObject): Promise<void> {
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

export async function cleared(
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
