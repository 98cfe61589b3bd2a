import { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { isAlike } from './kinds.ts';
import { fixedPredicates, judgeFor } from './predicates/predicates.ts';
import type { Preemptor } from './preemptor.ts';
import type { NoNodeLargeEnough } from './refusal.ts';
import type { Pod, Snapshot } from './snapshot.ts';

/** A Pod that no node could take were it empty, where a minimum cannot be met without it; whoever goes, it does not fit. */
export function noNodeLargeEnough(
  { pods, minimums }: Pick<Preemptor, 'pods' | 'minimums'>,
  snapshot: Snapshot,
): NoNodeLargeEnough | undefined {
  const state = new ClusterState({ ...snapshot, pods: [] });
  const known: { readonly pod: Pod; readonly found: NoNodeLargeEnough | undefined }[] = [];
  const judged = (pod: Pod): NoNodeLargeEnough | undefined => {
    const alike = known.find((one) => one.pod.nodeName === pod.nodeName && isAlike(one.pod, pod));
    if (alike !== undefined) return alike.found;
    const found = tooLarge(pod, state);
    known.push({ pod, found });
    return found;
  };
  for (const { group, count } of minimums) {
    const those = pods.filter((pod) => group === undefined || pod.group === group);
    const found = those.flatMap((pod) => judged(pod) ?? []);
    if (those.length - found.length < count) return found[0];
  }
  return undefined;
}

function tooLarge(pod: Pod, state: ClusterState): NoNodeLargeEnough | undefined {
  const judge = judgeFor(pod, state, fixedPredicates);
  const [first, ...others] = state.nodes.filter((node) => judge(node) === undefined);
  if (first === undefined) return undefined;
  for (const [resource, asked] of pod.requests) {
    const has = ({ node }: NodeState): number => node.allocatable.get(resource) ?? 0;
    const most = others.reduce((best, node) => (has(node) > has(best) ? node : best), first);
    if (asked <= has(most)) continue;
    const largest = { node: most.node.name, has: has(most) };
    return { why: 'NoNodeLargeEnough', group: pod.group, resource, asked, largest };
  }
  return undefined;
}
