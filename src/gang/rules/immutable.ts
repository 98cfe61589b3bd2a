import { fault, keyed, type Fault } from '../../api/fault.ts';
import { ANNOTATION_PREEMPTION_PLAN, LABEL_MANAGED_BY } from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { isGroveManaged } from '../gang-selection.ts';
import { referencesOf } from './check-spec.ts';
import { isInitialized } from './initialized.ts';
import { sameReferences } from './references.ts';

/** Checks that an Initialized gang keeps its groups, whoever writes. */
export function checkGroupsFixed(before: PodGang, after: PodGang): Fault[] {
  if (!isInitialized(before)) return [];
  const known = new Set(before.spec.groups.map((group) => group.name));
  const kept = new Set(after.spec.groups.map((group) => group.name));
  const added = after.spec.groups.flatMap((group, index) =>
    known.has(group.name)
      ? []
      : [fault('GroupsFixed', `spec.podgroups[${index}].name`, { detail: `${group.name} is new` })],
  );
  const removed = [...known]
    .filter((name) => !kept.has(name))
    .map((name) => fault('GroupsFixed', 'spec.podgroups', { detail: `${name} is gone` }));
  return [...added, ...removed];
}

/** Checks that only trusted accounts change the references of an Initialized gang. */
export function checkReferencesKept(before: PodGang, after: PodGang): Fault[] {
  if (!isInitialized(before)) return [];
  const stored = new Map(before.spec.groups.map((group) => [group.name, referencesOf(group)]));
  return after.spec.groups.flatMap((group, index) => {
    const kept = stored.get(group.name);
    return kept === undefined || sameReferences(kept, referencesOf(group))
      ? []
      : [fault('ReferencesProtected', `spec.podgroups[${index}].podReferences`)];
  });
}

/**
 * Checks that the label for Grove stays: a user who could set and remove it would avoid every rule that Grove's gangs are
 * exempt from.
 */
export function checkManagerKept(before: PodGang, after: PodGang): Fault[] {
  if (isGroveManaged(before) === isGroveManaged(after)) return [];
  const [from, to] = [before, after].map((gang) => gang.labels.get(LABEL_MANAGED_BY) ?? 'not set');
  const detail = `was ${from ?? ''}, now ${to ?? ''}`;
  return [fault('ManagerProtected', keyed('metadata.labels', LABEL_MANAGED_BY), { detail })];
}

/**
 * Checks that a user neither adds nor changes the preemption plan of a gang. A plan names the uid of its gang, so a gang
 * cannot be created with one. Anybody may remove the plan, and Muster then gives it up.
 */
export function checkPlanKept(before: PodGang, after: PodGang): Fault[] {
  const [was, is] = [before, after].map(({ annotations }) => annotations.get(ANNOTATION_PREEMPTION_PLAN));
  return is === undefined || is === was
    ? []
    : [fault('PreemptionPlanProtected', keyed('metadata.annotations', ANNOTATION_PREEMPTION_PLAN))];
}
