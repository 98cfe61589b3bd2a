import { fault, type Fault } from '../api/fault.ts';
import { LABEL_GANG } from '../api/names.ts';
import { quoted } from '../text/printable.ts';
import { isOfSystem, type PriorityClasses } from '../api/priority-class.ts';
import type { Membership } from '../gang/membership.ts';
import type { Policy } from './policy.ts';
import type { JsonPodPatch } from './pod-patch.ts';
import type { ReceivedPod } from './pod-reader.ts';

const FIELD = 'spec.priorityClassName';

/**
 * Whether the PodGang has to be read, since the class that the Pod would get stands on it and memory does not know it: a Pod
 * that follows its PodGang at once overtakes the watch. Of gangs that are made of a workload the Pods come first.
 */
export function needsGang(
  pod: ReceivedPod,
  { namespace, gang }: Membership,
  { classes, placement }: Policy,
): boolean {
  if (placement?.read === undefined || placement.classOfGang?.(namespace, gang) !== undefined) return false;
  if (classes?.known !== true || !isWithoutClass(pod, classes) || pod.label(LABEL_GANG) !== undefined)
    return false;
  // Those of the system are in every cluster, and no gang's.
  for (const { name } of classes.values()) if (!isOfSystem(name)) return true;
  return false;
}

/** The API server has filled in the default class by now, which is therefore no Pod's own. */
const isWithoutClass = ({ priorityClassName }: ReceivedPod, { byDefault }: PriorityClasses): boolean =>
  !priorityClassName || priorityClassName === byDefault?.name;

/**
 * A Pod without a PriorityClass of its own gets that of its gang, where both are known.
 * @returns a warning where the Pod is left with another class
 */
export function givePriority(
  pod: ReceivedPod,
  { namespace, gang }: Membership,
  { classes, placement }: Policy,
  patch: JsonPodPatch,
): string | undefined {
  const wanted = placement?.classOfGang?.(namespace, gang) ?? undefined;
  const given = pod.priorityClassName || undefined;
  if (wanted === undefined || given === wanted) return undefined;
  if (classes?.known !== true) {
    return `${FIELD} is not that of its gang, and stays so: Muster has not been able to list the PriorityClasses`;
  }
  const found = classes.get(wanted);
  if (found === undefined) {
    return `${FIELD} is not that of its gang, and stays so: the gang's PriorityClass is not there any more`;
  }
  if (!isWithoutClass(pod, classes)) {
    return `${FIELD}: ${quoted(given)} is not the PriorityClass of its gang: leave it out, and the Pod gets that of its gang`;
  }
  patch.setPriorityClass(found, 'the PriorityClass of its gang');
  return undefined;
}

/** A later webhook can change the class of a Pod after Kubernetes has given it its number; nobody else looks again. */
export function checkPriority(pod: ReceivedPod, { classes }: Policy): Fault[] {
  const { priority, priorityClassName } = pod;
  if (priority === undefined || !priorityClassName || classes?.known !== true) return [];
  const found = classes.get(priorityClassName);
  if (found === undefined || found.value === priority) return [];
  const detail = `${quoted(priorityClassName)} is ${found.value}`;
  return [fault('PriorityMismatch', 'spec.priority', { value: priority, detail })];
}
