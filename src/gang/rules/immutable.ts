import { fault, keyed, type Fault } from '../../api/fault.ts';
import { ANNOTATION_PREEMPTION_PLAN, LABEL_MANAGED_BY } from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { isGroveManaged } from '../gang-selection.ts';
import { referencesOf } from './check-spec.ts';
import { isInitialized } from './initialized.ts';
import { sameReferences } from './references.ts';

/** Once Initialized: the same groups, whoever asks. */
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

/** Once a gang is Initialized only trusted accounts change its references. */
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

/** Whoever could put the label on and off again would slip past every rule that Grove's gangs are not held to. */
export function checkManagerKept(before: PodGang, after: PodGang): Fault[] {
  if (isGroveManaged(before) === isGroveManaged(after)) return [];
  const [from, to] = [before, after].map((gang) => gang.labels.get(LABEL_MANAGED_BY) ?? 'not set');
  const detail = `was ${from ?? ''}, now ${to ?? ''}`;
  return [fault('ManagerProtected', keyed('metadata.labels', LABEL_MANAGED_BY), { detail })];
}

/**
 * Whom Muster evicts for a gang stands in the gang itself. One that is created with a plan has none: a plan names the uid
 * of its gang. It may be taken off by anybody: Muster gives up then.
 */
export function checkPlanKept(before: PodGang, after: PodGang): Fault[] {
  const [was, is] = [before, after].map(({ annotations }) => annotations.get(ANNOTATION_PREEMPTION_PLAN));
  return is === undefined || is === was
    ? []
    : [fault('PreemptionPlanProtected', keyed('metadata.annotations', ANNOTATION_PREEMPTION_PLAN))];
}
