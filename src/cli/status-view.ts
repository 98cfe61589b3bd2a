import type { JsonObject } from '../api/json.ts';
import { LABEL_POD_GANG, LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { BackendRegistry } from '../backends/registry.ts';
import { Cache, keyOf } from '../controller/cache.ts';
import { BY_GANG, POD_INDEXERS, stateOf } from '../controller/reconcile-state.ts';
import type { GangSummary, Waiting } from '../gang/gang-plan.ts';
import type { GangSelectors } from '../gang/gang-selection.ts';
import type { GangRecord, PodRecord } from '../gang/gang-state.ts';
import { plan } from '../gang/plan.ts';
import { readGang, readPod } from '../gang/read-records.ts';
import type { KubeClient, Selection } from '../kube/client.ts';
import { readNamespaces } from './status/namespaces.ts';
import { POD_GANGS, PODS, type KubeObject, type Resource } from '../kube/resources.ts';

/** One gang as `muster status` tells of it. */
export interface GangStatus {
  readonly namespace: string;
  readonly name: string;
  readonly backend: string;
  /** Milliseconds; undefined where the PodGang does not exist. */
  readonly ageMs: number | undefined;
  /** undefined where Pods claim a PodGang that does not exist. */
  readonly summary: GangSummary | undefined;
  readonly why: string;
  /** Live Pods, sorted by name. */
  readonly pods: readonly PodStatus[];
}

export interface PodStatus {
  readonly name: string;
  readonly group: string;
  readonly node: string;
  /** `running` where there is nothing to wait for. */
  readonly state: Waiting['state'] | 'running';
  readonly reason: string;
}

/**
 * Judges every gang by the very function that the loop uses, on two lists read now. So it tells the same reasons, and
 * works where the loop does not run.
 * @param defaultBackend name to show for gangs that name no scheduler; undefined: the registry's
 */
export async function readStatus(
  client: KubeClient,
  given: {
    namespace?: string | undefined;
    registry: BackendRegistry;
    selectors: GangSelectors;
    now: Date;
    defaultBackend?: string;
  },
): Promise<GangStatus[]> {
  const { namespace, registry, selectors, now, defaultBackend } = given;
  const pods = new Cache<PodRecord>(POD_INDEXERS);
  const gangs = new Cache<GangRecord>();
  const [namespaces] = await Promise.all([
    readNamespaces(client, namespace),
    eachOf(client, PODS, { namespace, labelSelector: LABEL_POD_GANG }, (object) => pods.put(readPod(object))),
    eachOf(client, POD_GANGS, { namespace }, (object) => gangs.put(readGang(object))),
  ]);
  const keys = new Set(pods.indexValues(BY_GANG));
  for (const gang of gangs.values()) keys.add(keyOf(gang.namespace, gang.name));
  return [...keys].sort().map((key): GangStatus => {
    const [space = '', name = ''] = key.split('/');
    const view = { pods, gangs, namespaces };
    const state = stateOf(space, name, { view, registry, selectors, synced: true, now: now.getTime() });
    const { summary, waiting } = plan(state);
    const gang = gangs.get(space, name);
    const unlabelled = gang !== undefined && !gang.labels.has(LABEL_SCHEDULER_NAME);
    const reasons = new Map(waiting.map((entry) => [entry.pod, entry]));
    return {
      namespace: space,
      name,
      backend: unlabelled
        ? (defaultBackend ?? state.backend.name)
        : gang === undefined
          ? '-'
          : state.backend.name,
      ageMs:
        gang?.creationTimestamp === undefined
          ? undefined
          : now.getTime() - Date.parse(gang.creationTimestamp),
      summary,
      why: summary?.why ?? `PodGang ${name} does not exist`,
      pods: state.pods
        .filter((pod) => pod.deletionTimestamp === undefined)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name: pod, group, nodeName }) => ({
          name: pod,
          group,
          node: nodeName,
          state: reasons.get(pod)?.state ?? 'running',
          reason: reasons.get(pod)?.reason ?? '',
        })),
    };
  });
}

async function eachOf(
  client: KubeClient,
  resource: Resource,
  selection: Selection,
  take: (object: JsonObject) => void,
): Promise<void> {
  let next: string | undefined;
  do {
    const page = await client.list<KubeObject>(resource, { ...selection, limit: 500, continue: next });
    for (const object of page.items) take(object as unknown as JsonObject);
    next = page.continue;
  } while (next !== undefined);
}
