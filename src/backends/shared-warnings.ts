import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
  disruptionModeOf,
  type DisruptionMode,
} from '../api/preemption-terms.ts';
import { CONDITION_INITIALIZED, type PodGang } from '../api/pod-gang.ts';
import { printable } from '../text/printable.ts';

const COST = `metadata.annotations[${ANNOTATION_PREEMPTION_PRIORITY_CLASS}]`;
const MODE = `metadata.annotations[${ANNOTATION_DISRUPTION_MODE}]`;
const WHO_KEEPS = "Muster's own preemption and muster plan keep to it";

/** The disruption mode in a gang's annotation. */
export const disruptionModeOfGang = ({
  annotations,
}: Pick<PodGang, 'annotations'>): DisruptionMode | undefined =>
  disruptionModeOf((key) => annotations.get(key));

/** How a scheduler preempts. */
export interface Preempts {
  readonly scheduler: string;
  /** Its fixed disruption mode, whatever the gang's annotation is. Absent: it follows the annotation. */
  readonly always?: { readonly mode: DisruptionMode; readonly says: string };
}

/**
 * Warnings for the preemption annotations of a gang that its scheduler ignores. No known scheduler has a preemption priority
 * apart from the scheduling priority.
 */
export function ignoredTerms(gang: PodGang, { scheduler, always }: Preempts): string[] {
  const warnings: string[] = [];
  const mode = disruptionModeOfGang(gang);
  if (mode !== undefined && always !== undefined && always.mode !== mode)
    warnings.push(`${scheduler} ignores ${MODE}: ${always.says}; ${WHO_KEEPS}`);
  const cost = gang.annotations.get(ANNOTATION_PREEMPTION_PRIORITY_CLASS);
  if (cost !== undefined && cost !== gang.spec.priorityClassName)
    warnings.push(`${scheduler} ignores ${COST}: it preempts by the scheduling priority; ${WHO_KEEPS}`);
  return warnings;
}

/** Warnings for preemption annotations that the scheduler ignores and that this update adds. */
export function newlyIgnored(before: PodGang, after: PodGang, preempts: Preempts): string[] {
  const known = new Set(ignoredTerms(before, preempts));
  return ignoredTerms(after, preempts).filter((warning) => !known.has(warning));
}

/** Groups that one warning names at most. */
const MOST = 8;

/**
 * Groups of a released gang whose minimum an update raises above the gang's number of Pods: `worker 2 to 4 (has 2)`. The
 * scheduler uses the new minimum from then on, and its effect on running Pods depends on the scheduler.
 * @returns undefined when there are none
 */
export function raisedMinimums(before: PodGang, after: PodGang): string | undefined {
  const letGo = before.conditions.some(
    ({ type, status }) => type === CONDITION_INITIALIZED && status === 'True',
  );
  if (!letGo) return undefined;
  const was = new Map(before.spec.groups.map(({ name, minReplicas }) => [name, minReplicas]));
  const raised = after.spec.groups.flatMap(({ name, minReplicas, podReferences = [] }) => {
    const former = was.get(name);
    const short = former !== undefined && minReplicas > former && minReplicas > podReferences.length;
    return short ? [`${printable(name, 63)} ${former} to ${minReplicas} (has ${podReferences.length})`] : [];
  });
  return raised.length === 0 ? undefined : raised.slice(0, MOST).join(', ');
}
