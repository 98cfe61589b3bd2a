import type { Membership } from '../gang/membership.ts';
import type { PodReader, Preparer } from './preparer.ts';

/**
 * Tells what the changes of a preparer depend on, beside the Pod's spec without its host name, the group, and the preparer
 * itself. Undefined where they may depend on more, or there are faults. Pods of which all of that is equal get equal changes
 * to their lists and fields.
 */
export type AlikeBy = (pod: PodReader, gang: Membership) => string | undefined;

const known = new WeakMap<Preparer, AlikeBy>();

/** Only for preparers of Muster itself: no other one declares what it reads. */
export function preparesAlike(preparer: Preparer, by: AlikeBy): Preparer {
  known.set(preparer, by);
  return preparer;
}

/** How a preparer's Pods are alike; undefined where each has to be prepared by itself. */
export const alikeByOf = (preparer: Preparer): AlikeBy | undefined => known.get(preparer);
