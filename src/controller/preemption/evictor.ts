import { kubeTime } from '../../k8s/time.ts';
import { ANNOTATION_PREEMPTION_PLAN } from '../../api/names.ts';
import { DISRUPTION_TARGET, PREEMPTION } from '../../api/preemption-terms.ts';
import { own, ownList, ownString, type JsonObject } from '../../json/json.ts';
import { readGangRecord } from '../../gang/read-records.ts';
import type { GangRecord } from '../../gang/records.ts';
import type { PatchOperation } from '../../json/patch.ts';
import type { KubeClient, PodToEvict } from '../../kube/client/client.ts';
import { ApiError, isConflict, isInvalid, isNotFound } from '../../kube/client/errors.ts';
import { POD_GANGS, PODS, type Target } from '../../kube/client/resources.ts';
import type { Nomination } from '../../preemption/in-flight.ts';
import type { Refusal } from '../../preemption/refusal.ts';

/** What became of a victim: it goes, was gone already, or may not go now, and why. */
export type Evicted = 'evicted' | 'gone' | { readonly refused: Refusal };

/** The writes of making room. Each is conditional on what it is about, and may be repeated. */
export interface Evictor {
  /**
   * Writes the plan into the gang, or takes it out.
   * @returns the gang after that; undefined where it is not as it was read any more, or gone
   */
  remember(gang: GangRecord, plan: string | null): Promise<GangRecord | undefined>;
  /** Says which node is meant for a Pod of the gang, so that no Pod of lower priority takes the place; null: none any more. */
  nominate(namespace: string, pod: Omit<Nomination, 'node'>, node: string | null): Promise<void>;
  /** Tells a Pod why it has to go. */
  mark(pod: PodToEvict, at: Date): Promise<void>;
  /** @param dryRun only asks whether it would be let go */
  evict(pod: PodToEvict, dryRun?: boolean): Promise<Evicted>;
  /** Whether the very Pod is still there. */
  isThere(pod: PodToEvict): Promise<boolean>;
}

/** @param overrides whether PodDisruptionBudgets are passed over: then Pods are deleted, not evicted */
export function evictorOf(client: KubeClient, signal: AbortSignal, overrides: boolean): Evictor {
  const podOf = ({ namespace, name }: PodToEvict): Target => ({ resource: PODS, namespace, name });
  const read = async (pod: PodToEvict): Promise<JsonObject | undefined> => {
    const found = await unlessGone(client.get<JsonObject>(podOf(pod), { signal }));
    return ownString(own(found, 'metadata'), 'uid') === pod.uid ? found : undefined;
  };
  return {
    remember: async ({ namespace, name, resourceVersion }, plan) => {
      const metadata = { resourceVersion, annotations: { [ANNOTATION_PREEMPTION_PLAN]: plan } };
      const target = { resource: POD_GANGS, namespace, name };
      const written = await unlessGone(client.mergePatch<JsonObject>(target, { metadata }, { signal }));
      return written && readGangRecord(written);
    },
    nominate: async (namespace, { name, uid }, node) => {
      const target = { resource: PODS, namespace, name };
      const patch = { metadata: { uid }, status: { nominatedNodeName: node } };
      await unlessGone(client.patchStatus(target, patch, { signal, answer: 'nothing' }));
    },
    mark: async (pod, at) => {
      const found = await read(pod);
      const patch = found && markPatch(found, pod.uid, at);
      if (patch === undefined) return;
      await unlessGone(
        client.jsonPatch({ ...podOf(pod), subresource: 'status' }, patch, { signal, answer: 'nothing' }),
      );
    },
    evict: async (pod, dryRun = false) => {
      if (overrides && dryRun) return 'evicted';
      const { uid } = pod;
      try {
        if (overrides) await client.delete(podOf(pod), { preconditions: { uid }, signal });
        else await client.evict(pod, { dryRun, signal });
        return 'evicted';
      } catch (error) {
        if (isNotFound(error) || isConflict(error)) return 'gone';
        if (!isRefusal(error)) throw error;
        const { namespace, name } = pod;
        const { status, message: words } = error;
        return { refused: { why: 'EvictionRefused', pod: { namespace, name }, status, words } };
      }
    },
    isThere: async (pod) => (await read(pod)) !== undefined,
  };
}

/** A budget has nothing left, or several are for the same Pod, which the API server answers with 500. */
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  (error.status === 429 || / more than one PodDisruptionBudget/.test(error.message));

/** Not there, or not what was read: undefined. Whoever asks looks again. */
async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error) || isConflict(error) || isInvalid(error)) return undefined;
    throw error;
  }
}

/** undefined where nothing is to be written: it is on its way out, or marked. */
function markPatch(pod: JsonObject, uid: string, at: Date): readonly PatchOperation[] | undefined {
  if (own(own(pod, 'metadata'), 'deletionTimestamp') !== undefined) return undefined;
  const conditions = ownList(own(pod, 'status'), 'conditions');
  const index = conditions?.findIndex((one) => ownString(one, 'type') === DISRUPTION_TARGET) ?? -1;
  const known = conditions?.[index];
  if (ownString(known, 'status') === 'True' && ownString(known, 'reason') === PREEMPTION) return undefined;
  const value = {
    type: DISRUPTION_TARGET,
    status: 'True',
    reason: PREEMPTION,
    message: 'muster: preempting to make room for a gang of higher priority',
    lastTransitionTime: kubeTime(at.getTime()),
  };
  const same: PatchOperation = { op: 'test', path: '/metadata/uid', value: uid };
  if (conditions === undefined) return [same, { op: 'add', path: '/status/conditions', value: [value] }];
  if (index < 0) return [same, { op: 'add', path: '/status/conditions/-', value }];
  const path = `/status/conditions/${index}`;
  return [
    same,
    { op: 'test', path: `${path}/type`, value: DISRUPTION_TARGET },
    { op: 'replace', path, value },
  ];
}
