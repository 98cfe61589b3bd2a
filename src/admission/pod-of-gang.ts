import { fault, keyed, type Fault } from '../api/fault.ts';
import { isObject, own, type JsonObject } from '../json/json.ts';
import { LABEL_GANG, LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../api/names.ts';
import { workloadTitle } from '../api/pod-origin.ts';
import type { Backend } from '../backends/backend.ts';
import { preparePod, type PrepareFailed } from '../preparers/prepare.ts';
import type { PodPatch, Preparer } from '../preparers/preparer.ts';
import { knownPreparation } from './known-changes.ts';
import type { GangKind } from '../workloads/kind.ts';
import { namesAsLabels, namesOf } from '../workloads/pod-names.ts';
import type { ReceivedPod } from './pod-reader.ts';
import { quoted } from '../text/printable.ts';
import { isOfSystem, type PriorityClasses } from '../api/priority-class.ts';
import type { Membership } from '../gang/membership.ts';
import type { Policy } from './policy.ts';
import type { JsonPodPatch } from './pod-patch.ts';
import type { AdmissionRequest, Decision } from './review.ts';

/** Who prepares a Pod, in this order. */
interface PreparedBy {
  readonly backend: Backend;
  readonly first: readonly Preparer[];
  /** By its HPCPolicy. */
  readonly last: readonly Preparer[];
  readonly failed: PrepareFailed | undefined;
}

/** Prepares a Pod, by what others of its template got where there are any. */
export function prepared(
  request: AdmissionRequest,
  { backend, first, last, failed }: PreparedBy,
  given: { readonly pod: ReceivedPod; readonly gang: Membership; readonly patch: JsonPodPatch },
): Pick<Decision, 'faults' | 'changes'> {
  const known =
    last.length > 0 && first.length === 0 ? knownPreparation(request, last, backend, given) : undefined;
  const faults = preparePod(backend, known?.preparers ?? [...first, ...last], given, failed);
  if (faults.length > 0) return { faults, changes: [] };
  return { faults, changes: known?.complete(given.patch) ?? given.patch.changes() };
}

/** The gang and group that a Pod gets from its workload. */
export interface Named {
  readonly faults: readonly Fault[];
  /** Adds the missing labels to the patch. */
  readonly write: (patch: Pick<PodPatch, 'label'>) => void;
  /** Returns the Pod with these labels, for a backend that reads the whole Pod. */
  readonly on: (pod: JsonObject) => JsonObject;
}

const NAMED_ALREADY: Named = { faults: [], write: () => undefined, on: (pod) => pod };

/**
 * Names the gang and group of a Pod with the label `muster.dev/gang`. Returns `later` where another webhook has to write its
 * label first.
 */
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

/** Checks that a Pod that is about to be stored has the gang and group of its workload. */
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
 * Whether the PodGang has to be read from the API server: the Pod would get the gang's PriorityClass, and the watch has not
 * delivered the gang yet, as happens when a Pod is created right after its PodGang. Gangs that Muster makes for a workload
 * are excluded: their Pods come first.
 */
export function needsGang(
  pod: ReceivedPod,
  { namespace, gang }: Membership,
  { classes, placement }: Policy,
): boolean {
  if (placement?.read === undefined || placement.classOfGang?.(namespace, gang) !== undefined) return false;
  if (classes?.known !== true || !isWithoutClass(pod, classes) || pod.label(LABEL_GANG) !== undefined)
    return false;
  // The system classes exist in every cluster, and no gang may name them.
  for (const { name } of classes.values()) if (!isOfSystem(name)) return true;
  return false;
}

/**
 * Whether a Pod names no class. The API server has filled in the default class by now, so a Pod with the default class
 * counts as well.
 */
const isWithoutClass = ({ priorityClassName }: ReceivedPod, { byDefault }: PriorityClasses): boolean =>
  !priorityClassName || priorityClassName === byDefault?.name;

/**
 * Gives a Pod without a PriorityClass the one of its gang, where both are known.
 * @returns a warning where the Pod keeps another class
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

/**
 * A webhook that runs later can change a Pod's class after Kubernetes has resolved its number. Nobody else compares the two.
 */
export function checkPriority(pod: ReceivedPod, { classes }: Policy): Fault[] {
  const { priority, priorityClassName } = pod;
  if (priority === undefined || !priorityClassName || classes?.known !== true) return [];
  const found = classes.get(priorityClassName);
  if (found === undefined || found.value === priority) return [];
  const detail = `${quoted(priorityClassName)} is ${found.value}`;
  return [fault('PriorityMismatch', 'spec.priority', { value: priority, detail })];
}
