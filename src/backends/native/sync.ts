import { GATE_POD_GANG_PENDING } from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { objectName } from '../../k8s/resource.ts';
import type { GangPod, OwnedObject, SyncContext } from '../cluster.ts';
import { COMPOSITE_POD_GROUPS, type GangApi } from './gang-api.ts';
import { nativeObjects, type Native } from './objects.ts';
import { nativeGangNames, type Layout, type NativeGang } from './native-gangs.ts';
import { isDeepStrictEqual } from 'node:util';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';

/**
 * Keeps the Workload, the CompositePodGroups and the PodGroups of a gang. Kubernetes lets next to nothing of them change,
 * so what has to differ is made anew while no Pod counts on it. While one does only what has to be there for a start
 * follows: made anew under its name too where Kubernetes does not let it change, since the scheduler knows the Pods of a
 * group by that name and reads its count each time. All else stays as it is then, with a warning. No scheduler counts on a
 * Pod that is still gated: were that enough, a PodGroup made by somebody else without a minimum would let the gang start
 * in pieces.
 * @param layout the one by which the gang's Pods were admitted
 */
export async function syncNative(
  context: SyncContext,
  gang: PodGang,
  served: Native,
  layout: Layout,
): Promise<void> {
  const { api } = served;
  const native = { ...served, layout };
  const strangers = context.pods.filter((pod) => isStranger(pod, gang, native));
  const affected = new Set(strangers.map((pod) => nativeGangNames(layout, gang.name, pod.group).podGroup));
  const isBound = context.pods.some(({ nodeName }) => nodeName !== '');
  const waiting = isBound ? undefined : new Set(context.pods.map(({ name }) => name));
  const wanted = nativeObjects(gang, native, (unit: NativeGang) => affected.has(unit.podGroup), waiting);
  const outdated = wanted.filter((object) => differs(context, object, api));
  const counted = context.pods.filter((pod) => pod.nativeGang === undefined || isOurs(pod, gang, native));
  const inUse = counted.some((pod) => !pod.gates.includes(GATE_POD_GANG_PENDING));

  if (strangers.length > 0) context.warn(startedWithout(strangers, api));
  // One on its way out would wait for the Pods that name it, and they for the next one.
  const stuck = counted.length === 0 ? [] : wanted.filter((object) => isTerminating(liveOf(context, object)));
  const follows = layout === 'composite' && gang.spec.groups.some(({ minReplicas }) => minReplicas > 0);
  const fixed = inUse ? outdated.filter((object) => !isOtherCount(context, object, api, follows)) : [];
  // Beside groups a Workload only describes: that one lags behind is no news.
  const behind = fixed.filter(({ resource }) => resource !== api.workloads || api.podGroups === undefined);
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
  await removeStrays(context, { wanted, fixed }, served);
}

/** Kubernetes keeps a PodGroup by it until no Pod that has not ended names it, gated ones included. */
const PROTECTION = 'scheduling.k8s.io/podgroup-protection';

const isOurs = (pod: GangPod, gang: PodGang, { api, layout }: Native): boolean =>
  pod.nativeGang === api.linkOf(gang.name, nativeGangNames(layout, gang.name, pod.group));

/**
 * How the gang's Pods were admitted. What the cluster serves, or the configuration, may have changed since: for as long as
 * all of them name native gangs of another layout, that one is kept.
 */
export function layoutOf(pods: readonly GangPod[], gang: PodGang, native: Native): Layout {
  const { layout } = native;
  const admitted = pods.filter(({ nativeGang }) => nativeGang !== undefined);
  if (admitted.length === 0 || admitted.some((pod) => isOurs(pod, gang, native))) return layout;
  const other: Layout = layout === 'flat' ? 'per-group' : 'flat';
  return admitted.every((pod) => isOurs(pod, gang, { ...native, layout: other })) ? other : layout;
}

/**
 * A Pod that was admitted while the cluster had no native gangs, or others, or Muster was set otherwise. It can never
 * be counted, so a gang that waited for it would wait for ever: its native gang has no minimum then.
 */
const isStranger = (pod: GangPod, gang: PodGang, native: Native): boolean =>
  pod.nativeGang !== undefined && !isOurs(pod, gang, native);

/** Objects of another layout, or of one group too many, once no Pod names them. */
async function removeStrays(
  context: SyncContext,
  { wanted, fixed }: Readonly<Record<'wanted' | 'fixed', readonly OwnedObject[]>>,
  { api, layout }: Native,
): Promise<void> {
  const stays = fixed.some(({ resource }) => resource === api.podGroups);
  const named = new Set(context.pods.map(({ nativeGang }) => nativeGang?.split('/')[0]));
  const resources = [
    ...(api.podGroups ? [api.podGroups] : []),
    ...(layout === 'composite' ? [COMPOSITE_POD_GROUPS] : []),
    api.workloads,
  ];
  for (const resource of resources) {
    for (const object of context.owned(resource)) {
      const name = objectName(object);
      // No Pod names a CompositePodGroup; a PodGroup that stays as it is may.
      const inUse = resource === COMPOSITE_POD_GROUPS ? stays : named.has(name) || named.has(undefined);
      const expected = wanted.some((other) => other.resource === resource && other.name === name);
      if (!expected && !inUse && !isTerminating(object)) await context.remove(resource, name);
    }
  }
}

const kept = (outdated: readonly OwnedObject[]): string => {
  const names = outdated.map(({ resource, name }) => `${resource.kind} ${name}`).join(', ');
  return `${names} stays as it was made, since Kubernetes changes none that Pods count on: delete the gang's Pods, or create the PodGang anew, for what its spec now says`;
};

const startedWithout = (strangers: readonly GangPod[], api: GangApi): string => {
  const [first, ...others] = strangers.map((pod) => pod.name).sort();
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `Pod ${first ?? ''}${more} was admitted without the ${api.linkField} that this gang's Pods now get, so its Pods are placed one by one: create them anew to have a gang`;
};

type Stored = Pick<SyncContext, 'owned'>;

/** The object as last seen; undefined where there is none. */
const liveOf = (context: Stored, { resource, name }: OwnedObject): JsonObject | undefined =>
  context.owned(resource).find((object) => objectName(object) === name);

const isTerminating = (object: JsonObject | undefined): boolean =>
  ownString(ownObject(object, 'metadata'), 'deletionTimestamp') !== undefined;

/** Whether the stored object says otherwise in what Kubernetes never changes. One on its way out is not asked. */
export function differs(context: Stored, object: OwnedObject, api: GangApi): boolean {
  const { resource, spec } = object;
  const live = liveOf(context, object);
  if (live === undefined || isTerminating(live)) return false;
  const stored = ownObject(live, 'spec') ?? {};
  if (resource === api.workloads) return !sameTemplates(spec, stored, api);
  const changes = resource === api.podGroups && api.minCountChanges;
  return !sameTerms(spec, stored, api, changes ? withoutMinCount : strictly);
}

/**
 * Whether a stored object differs in nothing but what has to be there for the scheduler to start. Such a one may be
 * replaced under its name while Pods count on it: of a PodGroup its `minCount`; of what is in a CompositePodGroup also
 * whether it is in it, and how many are.
 */
function isOtherCount(context: Stored, object: OwnedObject, api: GangApi, nested: boolean): boolean {
  const { resource, spec } = object;
  const stored = ownObject(liveOf(context, object), 'spec');
  if (resource === COMPOSITE_POD_GROUPS) return sameTerms(spec, stored, api, withoutPlace(api));
  if (resource !== api.podGroups) return false;
  const asks = (policy: Json | undefined): boolean => ownObject(policy, 'gang') !== undefined;
  return nested
    ? sameTerms(spec, stored, api, withoutPlace(api))
    : asks(spec[api.policy]) &&
        asks(own(stored, api.policy)) &&
        sameTerms(spec, stored, api, withoutMinCount);
}

/** A field as it is compared. */
type View = (value: Json | undefined, field: string) => Json | undefined;

const strictly: View = (value) => value;

const withoutMinCount: View = (value) => {
  const gang = ownObject(value, 'gang');
  return gang === undefined ? value : { gang: { ...gang, minCount: 0 } };
};

const withoutPlace =
  ({ policy }: GangApi): View =>
  (value, field) =>
    field === policy || PLACE.includes(field) ? undefined : value;

/** What says where among the others an object is: that of 1.36, and those of 1.37. */
const PLACE = ['podGroupTemplateRef', 'workloadRef', 'parentCompositePodGroupName'];

/** Of a template or a group: the fields that we ever write. What else is stored is a default, or somebody else's. */
function sameTerms(wanted: JsonObject, stored: Json | undefined, api: GangApi, view: View): boolean {
  // Kubernetes answers with null where a Workload has none.
  const same = (field: string): boolean =>
    isDeepStrictEqual(view(wanted[field], field), view(own(stored, field) ?? undefined, field));
  return (
    ['name', ...PLACE, api.policy, 'schedulingConstraints', 'priorityClassName'].every(same) &&
    // Kubernetes fills it in, so only one that is asked for says anything.
    (wanted['disruptionMode'] === undefined || same('disruptionMode'))
  );
}

/** The same of all templates in a Workload, or in one of its templates. */
const sameTemplates = (wanted: JsonObject, stored: Json | undefined, api: GangApi): boolean =>
  [api.templates, 'compositePodGroupTemplates'].every((list) => {
    const templates = ownList(wanted, list) ?? [];
    const entries = ownList(stored, list) ?? [];
    return (
      templates.length === entries.length &&
      templates.every((template, index) => {
        const entry = entries[index];
        return (
          sameTerms(template as JsonObject, entry, api, strictly) &&
          sameTemplates(template as JsonObject, entry, api)
        );
      })
    );
  });
