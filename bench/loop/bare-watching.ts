import type { JsonObject } from '../../src/json/json.ts';
import { kubeTime } from '../../src/k8s/time.ts';
import { CONDITION_INITIALIZED, type Condition } from '../../src/api/pod-gang.ts';
import { ENVIRONMENT, MANAGED_FIELDS } from '../../src/json/unread-lists.ts';
import { CONDITION_READY, CONDITION_SCHEDULED, CONDITION_UNHEALTHY } from '../../src/gang/plan/conditions.ts';
import { referencesPatch, statusPatch } from '../../src/gang/plan/gang-plan.ts';
import { readGangRecord } from '../../src/gang/read-records.ts';
import type { GangRecord } from '../../src/gang/records.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { objectPath, POD_GANGS, PODS, type Resource } from '../../src/kube/client/resources.ts';
import { inParallel } from '../measure/in-parallel.ts';
import { OBSERVED } from './objects.ts';

export interface GangNames {
  readonly name: string;
  readonly pods: readonly string[];
}

/** Sends a patch of this content type, and gives the answer. */
type Patch = (path: string, contentType: string, body: string) => Promise<string>;

/** Longer than any bench. */
const WATCH_SECONDS = 3600;

/** Receives and decodes all that happens to the Pods and PodGangs of a namespace, by the loop's own means, and drops it. */
export async function watchAsTheLoop(client: KubeClient, namespace: string): Promise<AbortController> {
  const over = new AbortController();
  const watch = async (resource: Resource): Promise<void> => {
    const selection =
      resource === PODS ? { labelSelector: OBSERVED, unread: [MANAGED_FIELDS, ENVIRONMENT] } : {};
    const { resourceVersion } = await client.list(resource, { namespace, limit: 1 });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const from = {
      resourceVersion,
      timeoutSeconds: WATCH_SECONDS,
      signal: over.signal,
      accepted: resolve,
    };
    const received = async (): Promise<void> => {
      for await (const batch of client.watch(resource, { ...selection, namespace, ...from })) void batch;
    };
    received().catch(reject);
    await promise;
  };
  await Promise.all([watch(PODS), watch(POD_GANGS)]);
  return over;
}

/** What has to be known of the gangs before the clock starts: the loop knows it from its watch. */
export async function readGangs(client: KubeClient, namespace: string): Promise<Map<string, GangRecord>> {
  const { items } = await client.list<JsonObject>(POD_GANGS, { namespace });
  return new Map(items.map(readGangRecord).map((gang) => [gang.name, gang]));
}

/** Each gang's references, then its status, then its gates, by the requests that the loop sends. */
export async function releaseGangs(
  known: ReadonlyMap<string, GangRecord>,
  gangs: readonly GangNames[],
  atATime: number,
  { patch, ungate }: { readonly patch: Patch; readonly ungate: (pod: string) => Promise<void> },
): Promise<void> {
  await inParallel(gangs, atATime, async ({ name, pods }) => {
    const gang = known.get(name);
    if (gang === undefined) throw new Error(`there is no PodGang ${name}`);
    const { namespace } = gang;
    const path = objectPath({ resource: POD_GANGS, namespace, name });
    const references = pods.toSorted().map((pod) => ({ namespace, name: pod }));
    const groups = [{ index: 0, name: gang.spec.groups[0]?.name ?? '', references }];
    const named = referencesPatch({ uid: gang.uid, resourceVersion: gang.resourceVersion, groups });
    const answer = await patch(path, 'application/json-patch+json', JSON.stringify(named));
    const { uid, resourceVersion } = readGangRecord(JSON.parse(answer) as JsonObject);
    const status = statusPatch({ uid, resourceVersion, phase: 'Pending', conditions: conditions() });
    await patch(`${path}/status`, 'application/merge-patch+json', JSON.stringify(status));
    await inParallel(pods, atATime, ungate);
  });
}

const conditions = (): Condition[] =>
  [CONDITION_INITIALIZED, CONDITION_SCHEDULED, CONDITION_READY, CONDITION_UNHEALTHY].map((type) => ({
    type,
    status: type === CONDITION_INITIALIZED ? 'True' : 'False',
    reason: 'Bench',
    message: 'every group has its minimum of Pods, which are referred to, and their gates come off',
    observedGeneration: 2,
    lastTransitionTime: kubeTime(Date.now()),
  }));
