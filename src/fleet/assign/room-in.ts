import { isWorkload, type Binding, type Component } from './binding.ts';
import { isForOneCluster } from './default-strategy.ts';
import { replicasThatFit, setsThatFit } from './estimate.ts';
import { leastSet, templatesOf } from './gang-strategies.ts';
import type { Member } from './member.ts';
import type { Assigner } from './plugin.ts';

/** What is counted in a cluster: how many replicas of the one template fit, or how many times all templates together. */
export interface Counted {
  readonly unit: 'replicas' | 'sets';
  readonly templates: readonly Component[];
}

/** What room is counted in for this workload, as the plugin has it; undefined for what is no workload. */
export function countedOf(binding: Binding, { room }: Assigner): Counted | undefined {
  if (!isWorkload(binding)) return undefined;
  const { components, requests } = binding;
  if (room === undefined) {
    if (isForOneCluster(binding)) return { unit: 'sets', templates: components };
    const only = requests === undefined ? [] : templatesOf({ ...binding, components: [] });
    return { unit: 'replicas', templates: only };
  }
  const templates = templatesOf(binding);
  if (templates.length === 1) return { unit: 'replicas', templates };
  return { unit: 'sets', templates: leastSet(binding) };
}

/** How many replicas, or sets of all templates, the cluster has room for, counted as the plugin has it. */
export function roomIn(binding: Binding, member: Member, plugin: Assigner): number {
  const counted = countedOf(binding, plugin);
  if (counted === undefined) return 0;
  const unmodelled = plugin.room?.unmodelled ?? 'none';
  const { unit, templates } = counted;
  return unit === 'sets'
    ? setsThatFit(member, templates, unmodelled)
    : replicasThatFit(member, templates[0]?.requests, unmodelled);
}
