import { fault, type Fault } from '../../api/fault.ts';
import { CONDITION_INITIALIZED, type Condition, type PodGang } from '../../api/pod-gang.ts';
import { referencesOf } from './check-spec.ts';

/** The condition Initialized of a PodGang; undefined while it is not written. */
export const initializedOf = (gang: Pick<PodGang, 'conditions'>): Condition | undefined =>
  gang.conditions.find((condition) => condition.type === CONDITION_INITIALIZED);

/** Whether Initialized has the status `True`. Absent, `False` and `Unknown` all mean that gates stay on. */
export const isInitialized = (gang: Pick<PodGang, 'conditions'>): boolean =>
  initializedOf(gang)?.status === 'True';

const sameCondition = (a: Condition | undefined, b: Condition | undefined): boolean =>
  a?.status === b?.status &&
  a?.reason === b?.reason &&
  a?.message === b?.message &&
  a?.observedGeneration === b?.observedGeneration &&
  a?.lastTransitionTime === b?.lastTransitionTime;

const PATH = 'status.conditions';

/** Checks that a trusted account writes the condition. */
export function checkInitializedAuthor(before: PodGang, after: PodGang): Fault[] {
  return sameCondition(initializedOf(before), initializedOf(after))
    ? []
    : [fault('InitializedProtected', `${PATH}[${CONDITION_INITIALIZED}]`)];
}

/** Indexes of the condition: one, unless it was written twice. */
const positionsOf = (gang: PodGang): number[] =>
  gang.conditions.flatMap(({ type }, index) => (type === CONDITION_INITIALIZED ? [index] : []));

/** Checks that Initialized occurs once and never reverts. Duplicates that are stored already are tolerated. */
export function checkInitializedStays(before: PodGang, after: PodGang): Fault[] {
  const faults = positionsOf(after)
    .slice(Math.max(1, positionsOf(before).length))
    .map((index) => fault('InitializedDuplicate', `${PATH}[${index}]`));
  if (isInitialized(before) && !isInitialized(after)) {
    const detail = `asked for ${initializedOf(after)?.status ?? 'its removal'}`;
    faults.push(fault('InitializedFinal', `${PATH}[${CONDITION_INITIALIZED}]`, { detail }));
  }
  return faults;
}

/** Checks that every group has its minimum of references when Initialized turns True. */
export function checkInitializedComplete(before: PodGang, after: PodGang): Fault[] {
  if (isInitialized(before) || !isInitialized(after)) return [];
  return after.spec.groups.flatMap((group, index) => {
    const count = referencesOf(group).length;
    if (count >= group.minReplicas) return [];
    const detail = `group ${group.name} has ${count} of ${group.minReplicas}`;
    return [fault('InitializedTooEarly', `spec.podgroups[${index}].podReferences`, { detail })];
  });
}
