import type { Preemptor } from './preemptor.ts';
import type { Rejection } from './predicates/predicates.ts';
import { speaksOf, compareText, type Constraints, type Scope, type Snapshot, type Pod } from './snapshot.ts';
import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';

/** A scope with the domain that was chosen for it. */
export interface ChosenDomain {
  readonly scope: Scope;
  readonly value: string;
}

export type DomainChoice = readonly ChosenDomain[];

/** `the whole gang`, `group worker`, `groups leader, worker`. */
export function titleOfScope({ groups }: Scope): string {
  if (groups === undefined) return 'the whole gang';
  return `${groups.length === 1 ? 'group' : 'groups'} ${groups.join(', ')}`;
}

/** Whether the scopes can have a Pod in common. */
export const overlap = (a: Scope, b: Scope): boolean =>
  a.groups === undefined || b.groups === undefined || a.groups.some((group) => b.groups?.includes(group));

/** Constraints of Pods that are restricted to domains, by those that they had before and the domains. */
export type Narrowed = Map<Constraints, Map<string, Constraints>>;

/** The gang with its Pods restricted to the chosen domains. Pods that shared constraints share the new ones too. */
export function confined(
  preemptor: Preemptor,
  choice: DomainChoice,
  known: Narrowed = new Map<Constraints, Map<string, Constraints>>(),
): Preemptor {
  const pods = preemptor.pods.map((pod) => {
    const own = choice.filter(({ scope }) => speaksOf(scope, pod));
    if (own.length === 0) return pod;
    const text = own.map(({ scope, value }) => `${scope.key}=${value}`).join();
    const alike = known.getOrInsert(pod.constraints, new Map<string, Constraints>());
    const constraints = alike.getOrInsertComputed(text, () => narrowed(pod.constraints, own));
    return { ...pod, constraints };
  });
  return { ...preemptor, pods, topology: undefined };
}

function narrowed(constraints: Constraints, own: DomainChoice): Constraints {
  const nodeSelector = new Map(constraints.nodeSelector);
  for (const { scope, value } of own) {
    // The Pod's own node selector excludes the domain.
    if ((nodeSelector.get(scope.key) ?? value) !== value) return { ...constraints, requiredNodes: [] };
    nodeSelector.set(scope.key, value);
  }
  return { ...constraints, nodeSelector };
}

/** The gang with Pods that may use no node, so that a search only finds out why preemption is refused. */
export const nowhere = (preemptor: Preemptor): Preemptor => ({
  ...preemptor,
  pods: preemptor.pods.map((pod) => ({ ...pod, constraints: { ...pod.constraints, requiredNodes: [] } })),
  topology: undefined,
});

/**
 * The rejections of all nodes for a scope that cannot be met.
 * @param inside names of the nodes in domains that the scope may use, each of which is too small
 */
export function outsideDomains(
  scope: Scope,
  { nodes }: Pick<Snapshot, 'nodes'>,
  inside: ReadonlySet<string>,
  beside = '',
): Rejection[] {
  const what = titleOfScope(scope);
  return nodes.map(({ name }) => {
    const message = inside.has(name)
      ? `node(s) in a domain of ${scope.key} without room for ${what}${beside}`
      : `node(s) in no domain of ${scope.key} that ${scope.groups === undefined ? 'the gang' : what} may use`;
    return { node: name, predicate: 'TopologyConstraint', messages: [message] };
  });
}

/** A domain of a label: the nodes with one value of it. */
export interface Domain {
  readonly value: string;
  readonly nodes: readonly NodeState[];
}

/** All domains of a label, by name. */
export function domainsOf(key: string, { nodes }: Pick<ClusterState, 'nodes'>): Domain[] {
  const byValue = new Map<string, NodeState[]>();
  for (const one of nodes) {
    const value = one.node.labels.get(key);
    if (value !== undefined) byValue.getOrInsert(value, []).push(one);
  }
  return [...byValue]
    .map(([value, those]) => ({ value, nodes: those }))
    .sort((a, b) => compareText(a.value, b.value));
}

/** The domains in which the Pods run, with undefined for Pods outside of all domains. */
export const domainsWith = (
  pods: readonly Pod[],
  key: string,
  { byName }: Pick<ClusterState, 'byName'>,
): ReadonlySet<string | undefined> =>
  new Set(pods.map(({ nodeName }) => byName.get(nodeName)?.node.labels.get(key)));
