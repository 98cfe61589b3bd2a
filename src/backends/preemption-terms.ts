import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
  disruptionModeOf,
  type DisruptionMode,
} from '../api/preemption-terms.ts';
import type { PodGang } from '../api/pod-gang.ts';

const COST = `metadata.annotations[${ANNOTATION_PREEMPTION_PRIORITY_CLASS}]`;
const MODE = `metadata.annotations[${ANNOTATION_DISRUPTION_MODE}]`;
const WHO_KEEPS = "Muster's own preemption and muster plan keep to it";

/** The mode that a gang asks for by its annotation. */
export const modeOf = ({ annotations }: Pick<PodGang, 'annotations'>): DisruptionMode | undefined =>
  disruptionModeOf((key) => annotations.get(key));

/** How a scheduler preempts, whatever a gang says. */
export interface Preempts {
  readonly scheduler: string;
  /** What it always does; absent: what the gang asks for. */
  readonly always?: { readonly mode: DisruptionMode; readonly says: string };
}

/**
 * What of a gang's words about preemption its scheduler does not hear. None of those that Muster knows has a priority for
 * being preempted beside the one for scheduling.
 */
export function unheardTerms(gang: PodGang, { scheduler, always }: Preempts): string[] {
  const warnings: string[] = [];
  const mode = modeOf(gang);
  if (mode !== undefined && always !== undefined && always.mode !== mode)
    warnings.push(`${scheduler} ignores ${MODE}: ${always.says}; ${WHO_KEEPS}`);
  const cost = gang.annotations.get(ANNOTATION_PREEMPTION_PRIORITY_CLASS);
  if (cost !== undefined && cost !== gang.spec.priorityClassName)
    warnings.push(`${scheduler} ignores ${COST}: it preempts by the scheduling priority; ${WHO_KEEPS}`);
  return warnings;
}

/** The same of a change: what was said before is not said again. */
export function newlyUnheard(before: PodGang, after: PodGang, preempts: Preempts): string[] {
  const known = new Set(unheardTerms(before, preempts));
  return unheardTerms(after, preempts).filter((warning) => !known.has(warning));
}
