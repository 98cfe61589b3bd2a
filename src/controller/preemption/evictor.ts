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

/** The result of an eviction: the Pod is being deleted, was gone already, or was refused, with the reason. */
export type Evicted = 'evicted' | 'gone' | { readonly refused: Refusal };

/** The writes of preemption. Each write is conditional on the object that was read and may be repeated. */
export interface Evictor {
  /**
   * Writes the plan into the gang's annotation, or removes the annotation for null.
   * @returns the gang after the write; undefined when the gang was changed since it was read, or is gone
   */
  remember(gang: GangRecord, plan: string | null): Promise<GangRecord | undefined>;
  /** Sets the Pod's `nominatedNodeName`, so that no Pod of lower priority takes the node; null clears it. */
  nominate(namespace: string, pod: Omit<Nomination, 'node'>, node: string | null): Promise<void>;
  /** Sets the Pod's condition that says why it is evicted. */
  mark(pod: PodToEvict, at: Date): Promise<void>;
  /** @param dryRun only asks the API server whether it would allow the eviction */
  evict(pod: PodToEvict, dryRun?: boolean): Promise<Evicted>;
  /** Whether the Pod with this uid still exists. */
  isThere(pod: PodToEvict): Promise<boolean>;
}

/** @param overrides whether PodDisruptionBudgets are ignored: Pods are then deleted instead of evicted */
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

/** A PodDisruptionBudget allows no eviction, or several match the Pod, which the API server answers with 500. */
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  (error.status === 429 || / more than one PodDisruptionBudget/.test(error.message));

/** Returns undefined when the object is gone or was changed since it was read; the caller reads it again. */
async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error) || isConflict(error) || isInvalid(error)) return undefined;
    throw error;
  }
}

/** Returns undefined when the Pod is being deleted or already has the condition. */
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
