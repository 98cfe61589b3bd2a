import { isDeepStrictEqual } from 'node:util';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import type { OwnedObject, SyncContext } from '../cluster.ts';
import { COMPOSITE_POD_GROUPS, type GangApi } from './gang-api.ts';

type Stored = Pick<SyncContext, 'owned'>;

/** The object as last seen; undefined where there is none. */
export const liveOf = (context: Stored, { resource, name }: OwnedObject): JsonObject | undefined =>
  context.owned(resource).find((object) => objectName(object) === name);

export const isTerminating = (object: JsonObject | undefined): boolean =>
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
export function isOtherCount(context: Stored, object: OwnedObject, api: GangApi, nested: boolean): boolean {
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
