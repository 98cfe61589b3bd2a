import { isDeepStrictEqual } from 'node:util';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../api/json.ts';
import { GATE_POD_GANG_PENDING } from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { nameOf } from '../../api/resource.ts';
import type { GangPod, OwnedObject, SyncContext } from '../cluster.ts';
import { markOf, type GangApi } from './gang-api.ts';
import { objectsOf, type Native } from './objects.ts';
import { unitNames, type Unit } from './units.ts';

/**
 * Keeps the Workload and the PodGroups of a gang. Kubernetes lets next to nothing of them change, so what has to differ
 * is made anew while no Pod counts on it. While one does only the count of a PodGroup follows: made anew under its name too
 * where Kubernetes does not let it change, since the scheduler knows the Pods of a group by that name and reads its count each
 * time. All else stays as it is then, with a warning. No scheduler counts on a Pod that is still gated: were that enough, a
 * PodGroup made by somebody else without a minimum would let the gang start in pieces.
 */
export async function syncNative(context: SyncContext, gang: PodGang, native: Native): Promise<void> {
  const { api, layout } = native;
  const strangers = context.pods.filter((pod) => isStranger(pod, gang, native));
  const affected = new Set(strangers.map((pod) => unitNames(layout, gang.name, pod.group).podGroup));
  const isBound = context.pods.some(({ nodeName }) => nodeName !== '');
  const waiting = isBound ? undefined : new Set(context.pods.map(({ name }) => name));
  const wanted = objectsOf(gang, native, (unit: Unit) => affected.has(unit.podGroup), waiting);
  const outdated = wanted.filter((object) => differs(context, object, api));
  const counted = context.pods.filter((pod) => pod.nativeGang === undefined || isOurs(pod, gang, native));
  const inUse = counted.some((pod) => !pod.gates.includes(GATE_POD_GANG_PENDING));

  if (strangers.length > 0) context.warn(startedWithout(strangers, api));
  // One on its way out would wait for the Pods that name it, and they for the next one.
  const stuck = counted.length === 0 ? [] : wanted.filter((object) => isTerminating(liveOf(context, object)));
  const fixed = inUse ? outdated.filter((object) => !isOtherCount(context, object, api)) : [];
  // Beside PodGroups a Workload only describes: that one lags behind is no news.
  const behind = fixed.filter(({ resource }) => resource === markOf(api));
  if (behind.length > 0) context.warn(kept(behind));
  const anew = [...outdated, ...stuck].filter((object) => !fixed.includes(object));
  for (const { resource, name } of anew.reverse()) await context.remove(resource, name, [PROTECTION]);
  for (const object of wanted) {
    // A PodGroup stays until its finalizer is taken off, and applying asks for that. A gang that none of its Pods is
    // counted in waits for nothing: the deletion is seen, and then there is another sync.
    const leaving = outdated.includes(object) || isTerminating(liveOf(context, object));
    const idle = !inUse && object.resource === api.podGroups && strangers.length > 0 && leaving;
    if (fixed.includes(object) || idle) continue;
    await context.apply(inUse ? object : { ...object, despite: [PROTECTION] });
  }
  await removeStrays(context, wanted, api);
}

/** Kubernetes keeps a PodGroup by it until no Pod that has not ended names it, gated ones included. */
const PROTECTION = 'scheduling.k8s.io/podgroup-protection';

const isOurs = (pod: GangPod, gang: PodGang, { api, layout }: Native): boolean =>
  pod.nativeGang === api.linkOf(gang.name, unitNames(layout, gang.name, pod.group));

/**
 * A Pod that was admitted while the cluster had no native gangs, or others, or Muster was set otherwise. It can never
 * be counted, so a gang that waited for it would wait for ever: its native gang has no minimum then.
 */
const isStranger = (pod: GangPod, gang: PodGang, native: Native): boolean =>
  pod.nativeGang !== undefined && !isOurs(pod, gang, native);

/** Whether the stored object says otherwise in what Kubernetes never changes. One on its way out is not asked. */
function differs(context: SyncContext, object: OwnedObject, api: GangApi): boolean {
  const { resource, spec } = object;
  const live = liveOf(context, object);
  if (live === undefined || isTerminating(live)) return false;
  const stored = ownObject(live, 'spec') ?? {};
  if (resource === api.workloads) {
    const entries = ownList(stored, api.templates) ?? [];
    const templates = spec[api.templates] as readonly JsonObject[];
    return (
      templates.length !== entries.length ||
      templates.some((template, index) => !sameTerms(template, entries[index], api, strictly))
    );
  }
  return !sameTerms(spec, stored, api, api.minCountChanges ? withoutMinCount : strictly);
}

/** Whether a PodGroup differs in nothing but how many Pods it asks for. */
function isOtherCount(context: SyncContext, object: OwnedObject, api: GangApi): boolean {
  const { resource, spec } = object;
  const stored = ownObject(liveOf(context, object), 'spec');
  const asks = (policy: Json | undefined): boolean => ownObject(policy, 'gang') !== undefined;
  return (
    resource === api.podGroups &&
    asks(spec[api.policy]) &&
    asks(own(stored, api.policy)) &&
    sameTerms(spec, stored, api, withoutMinCount)
  );
}

type View = (value: Json | undefined) => Json | undefined;

const strictly: View = (value) => value;

function withoutMinCount(value: Json | undefined): Json | undefined {
  const gang = ownObject(value, 'gang');
  return gang === undefined ? value : { gang: { ...gang, minCount: 0 } };
}

/** Of a template or a PodGroup: the fields that we ever write. What else is stored is a default, or somebody else's. */
function sameTerms(wanted: JsonObject, stored: Json | undefined, api: GangApi, view: View): boolean {
  // Kubernetes answers with null where a Workload has none.
  const same = (field: string): boolean =>
    isDeepStrictEqual(view(wanted[field]), view(own(stored, field) ?? undefined));
  return (
    [...IDENTITY, api.policy, 'schedulingConstraints', 'priorityClassName'].every(same) &&
    // Kubernetes fills it in, so only one that is asked for says anything.
    (wanted['disruptionMode'] === undefined || same('disruptionMode'))
  );
}

/** Of a template, and of the PodGroups of 1.36 and 1.37. */
const IDENTITY = ['name', 'podGroupTemplateRef', 'workloadRef'];

/** Objects of another layout, or of one group too many, once no Pod names them. */
async function removeStrays(
  context: SyncContext,
  wanted: readonly OwnedObject[],
  api: GangApi,
): Promise<void> {
  for (const resource of [api.podGroups, api.workloads]) {
    if (resource === undefined) continue;
    for (const object of context.owned(resource)) {
      const name = nameOf(object);
      const named = context.pods.some(({ nativeGang = name }) => nativeGang.split('/')[0] === name);
      const expected = wanted.some((other) => other.resource === resource && other.name === name);
      if (!expected && !named && !isTerminating(object)) await context.remove(resource, name);
    }
  }
}

const liveOf = (context: SyncContext, { resource, name }: OwnedObject): JsonObject | undefined =>
  context.owned(resource).find((object) => nameOf(object) === name);
const isTerminating = (object: JsonObject | undefined): boolean =>
  ownString(ownObject(object, 'metadata'), 'deletionTimestamp') !== undefined;

const kept = (outdated: readonly OwnedObject[]): string => {
  const names = outdated.map(({ resource, name }) => `${resource.kind} ${name}`).join(', ');
  return `${names} stays as it was made, since Kubernetes changes none that Pods count on: delete the gang's Pods, or create the PodGang anew, for what its spec now says`;
};

const startedWithout = (strangers: readonly GangPod[], api: GangApi): string => {
  const [first, ...others] = strangers.map((pod) => pod.name).sort();
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `Pod ${first ?? ''}${more} was admitted without the ${api.linkField} that this gang's Pods now get, so its Pods are placed one by one: create them anew to have a gang`;
};
