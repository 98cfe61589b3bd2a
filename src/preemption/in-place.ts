import type { ClusterState } from './cluster-state.ts';
import type { Placement } from './place.ts';
import { judgeFor } from './predicates/predicates.ts';
import type { Unit } from './units.ts';

/**
 * Whether the preemptor's Pods can stay where they are now that `unit` is back on its nodes: undefined, or the first
 * reason against it. Only the preemptor is judged: what ran before it runs on.
 */
export function inPlace(
  unit: Unit,
  { nodes }: Pick<Placement, 'nodes'>,
  state: ClusterState,
): string | undefined {
  const touched = new Set(unit.pods.map(({ nodeName }) => nodeName));
  for (const [pod, node] of nodes) {
    const { affinity, antiAffinity, spread } = pod.constraints;
    // On other nodes a Pod of the unit is felt only by those that mind who is near, or that it minds itself.
    const elsewhere = affinity.length + antiAffinity.length + spread.length + state.wantingDistance.size > 0;
    if (!elsewhere && !touched.has(node.node.name)) continue;
    state.take(pod, node);
    const rejection = judgeFor(pod, state)(node);
    state.put(pod, node);
    if (rejection !== undefined)
      return `with it in place ${pod.key} does not fit on ${node.node.name}: ${rejection.messages.join(', ')}`;
  }
  return undefined;
}
