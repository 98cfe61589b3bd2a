import type { Pod, Resources } from './snapshot.ts';

/** Whether two Pods without a node may go to the same nodes, and like them as much; who is near aside. */
export const isAlike = (a: Pod, b: Pod): boolean =>
  a.constraints === b.constraints &&
  a.scored.cpu === b.scored.cpu &&
  a.scored.memory === b.scored.memory &&
  sameResources(a.requests, b.requests);

/** The first Pod of each kind, in order. */
export function kindsOf(pods: readonly Pod[]): Pod[] {
  const kinds: Pod[] = [];
  for (const pod of pods) if (!kinds.some((one) => isAlike(one, pod))) kinds.push(pod);
  return kinds;
}

/** Whether both ask for the same. */
function sameResources(a: Resources, b: Resources): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, count] of a) if (b.get(name) !== count) return false;
  return true;
}
