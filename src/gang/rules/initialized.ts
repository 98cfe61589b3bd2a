import { fault, type Fault } from '../../api/fault.ts';
import { CONDITION_INITIALIZED, type Condition, type PodGang } from '../../api/pod-gang.ts';
import { referencesOf } from './check-spec.ts';

/** The condition Initialized of a PodGang, or undefined while nobody has written it. */
export const initializedOf = (gang: Pick<PodGang, 'conditions'>): Condition | undefined =>
  gang.conditions.find((condition) => condition.type === CONDITION_INITIALIZED);

/** True only for the status `True`; absent, `False` and `Unknown` all mean that gates stay on. */
export const isInitialized = (gang: Pick<PodGang, 'conditions'>): boolean =>
  initializedOf(gang)?.status === 'True';

const sameCondition = (a: Condition | undefined, b: Condition | undefined): boolean =>
  a?.status === b?.status &&
  a?.reason === b?.reason &&
  a?.message === b?.message &&
  a?.observedGeneration === b?.observedGeneration &&
  a?.lastTransitionTime === b?.lastTransitionTime;

const PATH = 'status.conditions';

/** Who may change the condition. */
export function checkInitializedAuthor(before: PodGang, after: PodGang): Fault[] {
  return sameCondition(initializedOf(before), initializedOf(after))
    ? []
    : [fault('InitializedProtected', `${PATH}[${CONDITION_INITIALIZED}]`)];
}

/** Positions of the condition; one, unless somebody wrote it twice. */
const positionsOf = (gang: PodGang): number[] =>
  gang.conditions.flatMap(({ type }, index) => (type === CONDITION_INITIALIZED ? [index] : []));

/** Initialized occurs once and never reverts; stored duplicates are tolerated. */
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

/** That every group has its minimum of references at the moment Initialized turns True. */
export function checkInitializedComplete(before: PodGang, after: PodGang): Fault[] {
  if (isInitialized(before) || !isInitialized(after)) return [];
  return after.spec.groups.flatMap((group, index) => {
    const count = referencesOf(group).length;
    if (count >= group.minReplicas) return [];
    const detail = `group ${group.name} has ${count} of ${group.minReplicas}`;
    return [fault('InitializedTooEarly', `spec.podgroups[${index}].podReferences`, { detail })];
  });
}
