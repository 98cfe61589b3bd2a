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
 * Keeps the Workload, the CompositePodGroups and the PodGroups of a gang. Almost all of their fields are immutable:
 * 1. While no ungated Pod names them, an object that differs is deleted and created again.
 * 2. While an ungated Pod names them, only the fields that a start needs are updated, if necessary by deletion and creation
 *    under the same name: the scheduler finds the Pods of a group by that name and reads its count each time. All other
 *    objects stay, with a warning.
 *
 * A gated Pod does not count as using an object: otherwise somebody else's PodGroup without a minimum could let the gang
 * start in parts.
 * @param layout the layout under which the gang's Pods were admitted
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
  // A terminating object would wait for the Pods that name it, and these Pods for its replacement.
  const stuck = counted.length === 0 ? [] : wanted.filter((object) => isTerminating(liveOf(context, object)));
  const follows = layout === 'composite' && gang.spec.groups.some(({ minReplicas }) => minReplicas > 0);
  const fixed = inUse ? outdated.filter((object) => !isOtherCount(context, object, api, follows)) : [];
  // With PodGroups the Workload is only descriptive, so an outdated one needs no warning.
  const behind = fixed.filter(({ resource }) => resource !== api.workloads || api.podGroups === undefined);
  if (behind.length > 0) context.warn(kept(behind));
  const anew = [...outdated, ...stuck].filter((object) => !fixed.includes(object));
  for (const { resource, name } of anew.reverse()) await context.remove(resource, name, [PROTECTION]);
  for (const object of wanted) {
    // A PodGroup stays until its finalizer is removed, and `apply` requests that through `despite`. When every Pod of the
    // gang names another native gang, nothing has to be applied now: the deletion triggers another sync.
    const leaving = outdated.includes(object) || isTerminating(liveOf(context, object));
    const idle = !inUse && object.resource === api.podGroups && strangers.length > 0 && leaving;
    if (fixed.includes(object) || idle) continue;
    await context.apply(inUse ? object : { ...object, despite: [PROTECTION] });
  }
  await removeStrays(context, { wanted, fixed }, served);
}

/** Finalizer that keeps a PodGroup while a Pod that has not ended, gated or not, names it. */
const PROTECTION = 'scheduling.k8s.io/podgroup-protection';

const isOurs = (pod: GangPod, gang: PodGang, { api, layout }: Native): boolean =>
  pod.nativeGang === api.linkOf(gang.name, nativeGangNames(layout, gang.name, pod.group));

/**
 * The layout under which the gang's Pods were admitted. The served API or the configuration may have changed since then:
 * another layout is kept while all Pods name native gangs of that layout.
 */
export function layoutOf(pods: readonly GangPod[], gang: PodGang, native: Native): Layout {
  const { layout } = native;
  const admitted = pods.filter(({ nativeGang }) => nativeGang !== undefined);
  if (admitted.length === 0 || admitted.some((pod) => isOurs(pod, gang, native))) return layout;
  const other: Layout = layout === 'flat' ? 'per-group' : 'flat';
  return admitted.every((pod) => isOurs(pod, gang, { ...native, layout: other })) ? other : layout;
}

/**
 * Whether the Pod was admitted under other native gangs or none: without them in the cluster, with another version, or under
 * another configuration. Its native gang can never count it and would wait for ever, so this native gang gets no minimum.
 */
const isStranger = (pod: GangPod, gang: PodGang, native: Native): boolean =>
  pod.nativeGang !== undefined && !isOurs(pod, gang, native);

/** Deletes objects of another layout and of removed groups, once no Pod names them. */
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
      // Pods do not name a CompositePodGroup, but a PodGroup that cannot be replaced now may.
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

/** The object as last seen; undefined when it does not exist. */
const liveOf = (context: Stored, { resource, name }: OwnedObject): JsonObject | undefined =>
  context.owned(resource).find((object) => objectName(object) === name);

const isTerminating = (object: JsonObject | undefined): boolean =>
  ownString(ownObject(object, 'metadata'), 'deletionTimestamp') !== undefined;

/** Whether an immutable field of the stored object differs. False for a terminating object. */
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
 * Whether a stored object differs only in fields that a start needs, so that it may be replaced under its name while Pods
 * use it: `minCount` of a PodGroup; for members of a CompositePodGroup also the parent and the number of members.
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

/** Transforms a field before the comparison. */
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

/** Fields with an object's place among the others: in 1.36 the first, from 1.37 on the others. */
const PLACE = ['podGroupTemplateRef', 'workloadRef', 'parentCompositePodGroupName'];

/** Compares the fields of a template or a group that Muster writes. Other stored fields are defaults or belong to others. */
function sameTerms(wanted: JsonObject, stored: Json | undefined, api: GangApi, view: View): boolean {
  // Kubernetes returns null for a field that a Workload lacks.
  const same = (field: string): boolean =>
    isDeepStrictEqual(view(wanted[field], field), view(own(stored, field) ?? undefined, field));
  return (
    ['name', ...PLACE, api.policy, 'schedulingConstraints', 'priorityClassName'].every(same) &&
    // Kubernetes sets a default, so an unset field is not compared.
    (wanted['disruptionMode'] === undefined || same('disruptionMode'))
  );
}

/** Compares all templates in a Workload, or in one of its templates. */
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
