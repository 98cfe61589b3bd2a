import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { compareText, type Pod } from './snapshot.ts';

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

/** In which of them the Pods run; undefined: outside of all. */
export const domainsWith = (
  pods: readonly Pod[],
  key: string,
  { byName }: Pick<ClusterState, 'byName'>,
): ReadonlySet<string | undefined> =>
  new Set(pods.map(({ nodeName }) => byName.get(nodeName)?.node.labels.get(key)));
