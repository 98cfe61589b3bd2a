import { fault, keyed, type Fault } from '../../api/fault.ts';
import { ANNOTATION_EXPECTED_PODS } from '../../api/names.ts';
import type { PodGang, PodGroup } from '../../api/pod-gang.ts';
import { isDnsSubdomain, isLabelValue, MAX_LABEL_VALUE } from '../../k8s/name-syntax.ts';
import { expectedPods } from '../expected-pods.ts';

/** Checks the name of a PodGang. This rule and those below depend on neither the cluster nor the scheduler. */
export function checkGangName(gang: PodGang): Fault[] {
  return gang.name.length > MAX_LABEL_VALUE
    ? [
        fault('GangNameTooLong', 'metadata.name', {
          value: gang.name,
          detail: `this one has ${gang.name.length}`,
        }),
      ]
    : [];
}

/** Checks that there is a group, and that some group waits for a Pod. Grove releases a gang by setting all minimums to 0. */
export function checkGangIsOne(gang: PodGang): Fault[] {
  const { groups } = gang.spec;
  if (groups.length === 0) return [fault('GroupsRequired', 'spec.podgroups')];
  return groups.some((group) => group.minReplicas > 0) ? [] : [fault('MinReplicasAllZero', 'spec.podgroups')];
}

/** Checks group names: label values, each used once. */
export function checkGroupNames(gang: PodGang): Fault[] {
  const faults: Fault[] = [];
  const names = new Map<string, number>();
  gang.spec.groups.forEach((group, index) => {
    const path = `spec.podgroups[${index}].name`;
    // A name that could not be read has a fault already.
    if (group.name !== '' && !isLabelValue(group.name)) {
      faults.push(fault('GroupNameInvalid', path, { value: group.name }));
    }
    const first = names.get(group.name);
    if (first === undefined) names.set(group.name, index);
    else if (group.name !== '') {
      faults.push(
        fault('GroupNameDuplicate', path, { value: group.name, detail: `also spec.podgroups[${first}]` }),
      );
    }
  });
  return faults;
}

/** Checks that every group has a name. In a webhook the parser reports a missing name. */
export const checkGroupsNamed = (gang: PodGang): Fault[] =>
  gang.spec.groups.flatMap(({ name }, index) =>
    name === '' ? [fault('GroupNameInvalid', `spec.podgroups[${index}].name`, { value: name })] : [],
  );

/** Checks that no minimum is negative. */
export const checkMinimums = (gang: PodGang): Fault[] =>
  gang.spec.groups.flatMap(({ minReplicas }, index) =>
    minReplicas < 0
      ? [fault('MinReplicasInvalid', `spec.podgroups[${index}].minReplicas`, { value: minReplicas })]
      : [],
  );

/**
 * Checks each entry of the annotation for expected Pods. The loop ignores a wrong entry of a stored gang, and reports it.
 */
export const checkExpectedPods = (gang: PodGang): Fault[] =>
  expectedPods(gang).faults.map((detail) =>
    fault('ExpectedPodsInvalid', keyed('metadata.annotations', ANNOTATION_EXPECTED_PODS), { detail }),
  );

/** Checks the name of the PriorityClass. */
export function checkPriorityClass({ spec: { priorityClassName } }: PodGang): Fault[] {
  return priorityClassName === undefined || priorityClassName === '' || isDnsSubdomain(priorityClassName)
    ? []
    : [fault('PriorityClassInvalid', 'spec.priorityClassName', { value: priorityClassName })];
}

/** Checks that references name Pods of the gang's own namespace, each once. */
export function checkReferences(gang: PodGang): Fault[] {
  const faults: Fault[] = [];
  const seen = new Map<string, string>();
  gang.spec.groups.forEach((group, groupIndex) => {
    group.podReferences?.forEach((reference, index) => {
      const path = `spec.podgroups[${groupIndex}].podReferences[${index}]`;
      if (reference.namespace !== '' && reference.namespace !== gang.namespace) {
        faults.push(fault('ReferenceForeign', `${path}.namespace`, { value: reference.namespace }));
        return;
      }
      if (reference.name === '') return;
      if (!isDnsSubdomain(reference.name)) {
        faults.push(fault('ReferenceInvalid', `${path}.name`, { value: reference.name }));
        return;
      }
      const first = seen.get(reference.name);
      if (first === undefined) seen.set(reference.name, path);
      else faults.push(fault('ReferenceDuplicate', path, { value: reference.name, detail: `also ${first}` }));
    });
  });
  return faults;
}

/** The references of a group; none where the field is absent. */
export const referencesOf = (group: PodGroup): NonNullable<PodGroup['podReferences']> =>
  group.podReferences ?? [];

/** The largest int32, the type of counts in CRDs. */
const MAX_COUNT = 2_147_483_647;

/** How many Pods must start together, over all groups: the one number that every gang scheduler gets. */
export const totalMinimum = ({ spec }: Pick<PodGang, 'spec'>): number =>
  spec.groups.reduce((sum, group) => sum + Math.max(0, group.minReplicas), 0);

/** Checks that the sum of the minimums fits an int32, as each of them does. */
export function checkTotalMinimum(gang: Pick<PodGang, 'spec'>): Fault[] {
  const total = totalMinimum(gang);
  if (total <= MAX_COUNT) return [];
  const detail = `the sum of minReplicas is at most ${MAX_COUNT}`;
  return [fault('BackendCannotExpress', 'spec.podgroups', { value: total, detail })];
}
