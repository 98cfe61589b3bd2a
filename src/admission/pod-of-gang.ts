import { fault, keyed, type Fault } from '../api/fault.ts';
import { isObject, own, type JsonObject } from '../json/json.ts';
import { ANNOTATION_HPC_POLICY, LABEL_GANG, LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../api/names.ts';
import { workloadTitle } from '../api/pod-origin.ts';
import type { PodPatch, Preparer } from '../preparers/preparer.ts';
import type { GangKind } from '../workloads/kind.ts';
import { namesAsLabels, namesOf } from '../workloads/pod-names.ts';
import type { ReceivedPod } from './pod-reader.ts';
import { quoted } from '../text/printable.ts';
import { isOfSystem, type PriorityClasses } from '../api/priority-class.ts';
import type { Membership } from '../gang/membership.ts';
import type { DecisionNeed, Policy } from './policy.ts';
import { preparationNeeded } from './gang-preparers.ts';
import { TryLater } from '../errors.ts';
import { preparersOf } from '../preparers/registry.ts';
import type { JsonPodPatch } from './pod-patch.ts';

/** What the workload of a Pod makes of it. */
export interface Named {
  readonly faults: readonly Fault[];
  /** Writes the names that are missing into the patch. */
  readonly write: (patch: Pick<PodPatch, 'label'>) => void;
  /** The Pod with these names, for a backend that gets the whole of it. */
  readonly on: (pod: JsonObject) => JsonObject;
}

const NAMED_ALREADY: Named = { faults: [], write: () => undefined, on: (pod) => pod };

/** Gives a Pod with the label `muster.dev/gang` its gang and its group. `later`: another webhook has to go first. */
export function nameGang(pod: ReceivedPod, kinds?: readonly GangKind[]): Named | 'later' {
  if (pod.label(LABEL_GANG) === undefined) return NAMED_ALREADY;
  const told = namesOf(pod, kinds);
  if (told.is === 'late') return 'later';
  if (told.is === 'wrong') return { ...NAMED_ALREADY, faults: told.faults };
  const { gang, group, origin } = told;
  pod.withNames(gang, group);
  return {
    faults: [],
    write: (patch) => {
      const why = `${workloadTitle(origin)} is a gang`;
      patch.label(LABEL_POD_GANG, gang, why);
      patch.label(LABEL_POD_CLIQUE, group, why);
    },
    on: (object) => {
      const metadata = own(object, 'metadata');
      const labels = own(metadata, 'labels');
      return {
        ...object,
        metadata: {
          ...(isObject(metadata) && metadata),
          labels: { ...(isObject(labels) && labels), ...Object.fromEntries(namesAsLabels(told)) },
        },
      };
    },
  };
}

/** Of a Pod that is about to be stored: that it has the names which its workload gives it. */
export function checkNamed(pod: ReceivedPod, kinds?: readonly GangKind[]): readonly Fault[] {
  if (pod.label(LABEL_GANG) === undefined) return [];
  const told = namesOf(pod, kinds);
  if (told.is === 'wrong') return told.faults;
  if (told.is === 'late') {
    const detail = `${told.label} is missing`;
    return [fault('GangNotNamed', keyed('metadata.labels', LABEL_POD_GANG), { detail })];
  }
  const missing = namesAsLabels(told).filter(([key]) => pod.label(key) === undefined);
  return missing.map(([key]) => fault('GangNotNamed', keyed('metadata.labels', key)));
}

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

/** Who prepares a Pod beside its backend, or why nobody can say, or what has to be read before anybody can. */
export type PodPreparers =
  | { readonly preparers: readonly Preparer[]; readonly needs?: never }
  | { readonly fault: Fault; readonly needs?: never; readonly preparers?: never }
  | { readonly needs: DecisionNeed; readonly preparers?: never };

const NOBODY: PodPreparers = { preparers: [] };

/**
 * By the HPCPolicy of the Pod's gang. A gang that no watch knows yet is read where it may be one with a policy; for all
 * others this is one look into memory.
 * @param pod as it comes; looked at only where somebody elsewhere has to be asked about it
 * @throws {TryLater} where the gang names a policy and the policies are not known yet
 */
export function preparersOfPod(
  { namespace, gang: name, group }: Membership,
  policy: Policy,
  pod: () => JsonObject,
): PodPreparers {
  const { hpc, placement, preparations } = policy;
  if (hpc === undefined || placement?.gang === undefined) return NOBODY;
  const gang = placement.gang(namespace, name);
  if (gang === undefined) {
    return placement.read !== undefined && hpc.anyIn(namespace)
      ? { needs: { namespace, gang: name } }
      : NOBODY;
  }
  if (gang?.annotations.has(ANNOTATION_HPC_POLICY) !== true) return NOBODY;
  if (!hpc.known) throw new TryLater('not-ready', 'the HPCPolicies of the cluster are not known yet');
  const needs = preparationNeeded(gang, policy, (hosted, named, ms) =>
    hosted.ofPod(pod(), { gang, group, policy: named }, ms),
  );
  if (needs !== undefined) return { needs };
  const { preparers, fault: found } = preparersOf(gang, hpc, preparations);
  return found === undefined ? { preparers } : { fault: found };
}
