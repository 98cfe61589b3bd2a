import type { ClusterState, NodeState } from './cluster-state.ts';
import { mindsOthers, type Placement } from './place.ts';
import { judgeFor } from './predicates/predicates.ts';
import type { Pod } from './snapshot.ts';
import type { Unit } from './units.ts';

/** The preemptor's Pods where they are assumed to be, for units to be put back beside them one after the other. */
export class Assumed {
  readonly #nodes: Placement['nodes'];
  readonly #state: ClusterState;
  readonly #onNode = new Map<string, Pod[]>();
  readonly #mindful: boolean;

  constructor({ nodes }: Pick<Placement, 'nodes'>, state: ClusterState) {
    this.#nodes = nodes;
    this.#state = state;
    this.#mindful = [...nodes.keys()].some(mindsOthers);
    for (const [pod, { node }] of nodes) {
      const here = this.#onNode.get(node.name);
      if (here === undefined) this.#onNode.set(node.name, [pod]);
      else here.push(pod);
    }
  }

  /**
   * Whether the preemptor's Pods can stay now that `unit` is back on its nodes: undefined, or the first reason against
   * it. Only the preemptor is judged: what ran before it runs on.
   */
  clashWith(unit: Unit): string | undefined {
    // On other nodes a Pod of the unit is felt only by those that mind who is near, or that it minds itself.
    if (this.#mindful || this.#state.wantingDistance.size > 0) return this.#first(this.#nodes.keys());
    for (const { nodeName } of unit.pods) {
      const clash = this.#first(this.#onNode.get(nodeName) ?? []);
      if (clash !== undefined) return clash;
    }
    return undefined;
  }

  #first(pods: Iterable<Pod>): string | undefined {
    for (const pod of pods) {
      const node = this.#nodes.get(pod);
      const clash = node && this.#clashOn(pod, node);
      if (clash !== undefined) return clash;
    }
    return undefined;
  }

  #clashOn(pod: Pod, node: NodeState): string | undefined {
    this.#state.take(pod, node);
    const rejection = judgeFor(pod, this.#state)(node);
    this.#state.put(pod, node);
    if (rejection === undefined) return undefined;
    return `with it in place ${pod.key} does not fit on ${node.node.name}: ${rejection.messages.join(', ')}`;
  }
}
