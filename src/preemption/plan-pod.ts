import { splitByBudgets } from './budgets.ts';
import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { Assumed } from './assumed.ts';
import { place, undo } from './place.ts';
import { fixedPredicates, judgeFor, type Rejection } from './predicates/predicates.ts';
import type { PreemptionUnit } from './units.ts';
import { BEHAVIOUR } from './variants.ts';
import { putBack, removed, Verdicts, type SearchInput, type Search } from './search.ts';

/** Plans for a single Pod: each node is searched as a domain of its own, and the cheapest is taken. */
export function planForPod(question: SearchInput): Search | { readonly rejected: readonly Rejection[] } {
  const { preemptor, state, units } = question;
  const [pod] = preemptor.pods;
  if (pod === undefined) return { rejected: [] };
  const onNode = new Map<string, Set<PreemptionUnit>>();
  for (const unit of units)
    for (const { nodeName } of unit.pods) onNode.getOrInsert(nodeName, new Set()).add(unit);
  const fixed = judgeFor(pod, state, fixedPredicates);
  const rejected: Rejection[] = [];
  let best: Candidate | undefined;
  for (const node of state.nodes) {
    const refusal = fixed(node);
    if (refusal !== undefined) rejected.push(refusal);
    else {
      const found = onOne(question, node, [...(onNode.get(node.node.name) ?? [])]);
      if ('rejection' in found) rejected.push(found.rejection);
      else if (best === undefined || cheaper(found, best)) best = found;
    }
  }
  return best?.search ?? { rejected };
}

interface Candidate {
  readonly search: Search;
  readonly cost: Cost;
}

/** Values that are compared one after the other; lower is better. */
type Cost = readonly number[];

export function cheaper(a: { readonly cost: Cost }, b: { readonly cost: Cost }): boolean {
  for (const [index, cost] of a.cost.entries()) {
    const other = b.cost[index] ?? 0;
    if (cost !== other) return cost < other;
  }
  return false;
}

function onOne(
  { preemptor, state, budgets, variant }: SearchInput,
  node: NodeState,
  ordered: readonly PreemptionUnit[],
): Candidate | { readonly rejection: Rejection } {
  for (const unit of ordered) removed(unit, state);
  const placement = place(preemptor, state, [node]);
  const [rejection] = placement.rejected;
  if (rejection !== undefined || ordered.length === 0) {
    undo(placement, state);
    restore(ordered, state);
    return {
      rejection: rejection ?? { node: node.node.name, predicate: 'DefaultPreemption', messages: [NOBODY] },
    };
  }
  const ways = BEHAVIOUR[variant];
  const { violating, others } = splitByBudgets(ordered, budgets, ways.chargesUntil.Pod);
  const verdicts = new Verdicts(violating);
  const assumed = new Assumed(placement, state);
  for (const unit of [...violating.keys(), ...others]) {
    putBack(unit, state);
    const clash = assumed.clashWith(unit);
    if (clash === undefined) verdicts.spare(unit, 'it can stay beside the Pod');
    else {
      removed(unit, state);
      verdicts.need(unit, clash);
    }
  }
  undo(placement, state);
  restore(ordered, state);
  const search = { ...verdicts.sorted(), placement };
  return { search, cost: ways.costsCountPods ? costOfPods(search) : costOf(search) };
}

const NOBODY = 'No preemption victims found for incoming pod';

const restore = (units: readonly PreemptionUnit[], state: ClusterState): void => {
  for (const unit of units) putBack(unit, state);
};

/**
 * The cost by which kube-scheduler compares nodes: number of broken budgets, highest priority of a victim, sum of priorities
 * (shifted to be positive, so that fewer victims cost less), number of Pods, latest start of the most important victims. All
 * Pods of a unit count with the unit's priority, also those on other nodes. Equal costs: the first node by name.
 */
export function costOf({ victims }: Pick<Search, 'victims'>): Cost {
  const [first] = victims;
  const highest = first?.unit.priority ?? -Infinity;
  let [broken, sum, pods, start] = [0, 0, 0, Infinity];
  for (const { unit, violatesBudget } of victims) {
    if (violatesBudget) broken += 1;
    sum += unit.pods.length * (unit.priority + 2 ** 31);
    pods += unit.pods.length;
    if (unit.priority === highest) start = Math.min(start, unit.start);
  }
  return [broken, highest, sum, pods, -start];
}

/**
 * The same cost as kube-scheduler counts it for Pods: each Pod with its own priority, and as the highest priority that of
 * the first Pod of the most important unit, even where its group costs more.
 */
function costOfPods({ victims }: Pick<Search, 'victims'>): Cost {
  const pods = victims.flatMap(({ unit }) => unit.pods);
  const broken = victims.reduce((sum, { violatingPods }) => sum + violatingPods, 0);
  const sum = pods.reduce((total, { priority }) => total + priority + 2 ** 31, 0);
  const highest = pods.reduce((most, { priority }) => Math.max(most, priority), -Infinity);
  const started = pods.map((pod) => (pod.priority === highest ? (pod.startTime ?? Infinity) : Infinity));
  return [broken, pods[0]?.priority ?? -Infinity, sum, pods.length, -Math.min(...started)];
}
