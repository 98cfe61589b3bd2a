import { isWorkload, type Binding, type BindingComponent } from './binding.ts';
import { isForOneCluster } from './default-strategy.ts';
import { replicasThatFit, setsThatFit, totalOf, type Unmodelled } from './estimate.ts';
import { leastSet, bindingTemplates } from './gang-strategies.ts';
import type { Member } from './member.ts';
import type { Assigner } from './assigner.ts';
import { formatCount } from '../../k8s/quantity.ts';
import type { Resources } from '../../k8s/field-reader.ts';
import type { Candidate } from './candidate.ts';
import { affinityMatches, groupsOf, obstacle, tiersOf } from './filter.ts';
import type { Strategies } from './strategies.ts';

/** The unit of capacity in a cluster: replicas of the only template, or sets of all templates together. */
export interface CountedTemplates {
  readonly unit: 'replicas' | 'sets';
  readonly templates: readonly BindingComponent[];
}

/** The plugin's unit of capacity for this workload; undefined for an object that is no workload. */
export function countedOf(binding: Binding, { room }: Assigner): CountedTemplates | undefined {
  if (!isWorkload(binding)) return undefined;
  const { components, requests } = binding;
  if (room === undefined) {
    if (isForOneCluster(binding)) return { unit: 'sets', templates: components };
    const only = requests === undefined ? [] : bindingTemplates({ ...binding, components: [] });
    return { unit: 'replicas', templates: only };
  }
  const templates = bindingTemplates(binding);
  if (templates.length === 1) return { unit: 'replicas', templates };
  return { unit: 'sets', templates: leastSet(binding) };
}

/** Capacity of the cluster in replicas or sets of all templates, by the plugin's count. */
export function capacityIn(binding: Binding, member: Member, plugin: Assigner): number {
  const counted = countedOf(binding, plugin);
  if (counted === undefined) return 0;
  const unmodelled = plugin.room?.unmodelled ?? 'none';
  const { unit, templates } = counted;
  return unit === 'sets'
    ? setsThatFit(member, templates, unmodelled)
    : replicasThatFit(member, templates[0]?.requests, unmodelled);
}

/** Why a permitted cluster gets no replicas: its capacity, or the lacking resource when it has none. */
export function whyNotTaken(
  binding: Binding,
  { member, available, estimate }: Candidate,
  plugin: Assigner,
  verdict: 'is not needed' | 'is not enough',
): string {
  const counted = countedOf(binding, plugin);
  // Capacity is not counted for objects without Pods.
  if (counted === undefined) return verdict;
  if (available > 0) return `${verdict}: it has room for ${amountOf(available, counted, plugin)}`;
  const isFull = capacityIn(binding, member, plugin) === 0;
  const why =
    isFull || estimate === undefined
      ? lackOf(member, counted, plugin.room?.unmodelled ?? 'none')
      : 'its estimator finds none';
  return `has no room: ${why}`;
}

function amountOf(available: number, { unit, templates }: CountedTemplates, { room }: Assigner): string {
  const many = (one: string, more: string): string => `${available} ${available === 1 ? one : more}`;
  if (unit === 'sets')
    return `${many('set', 'sets')} of ${room === undefined ? 'all templates' : 'the least of each template'}`;
  return templates.length === 0 ? many('Pod', 'Pods') : many('replica', 'replicas');
}

/** The resource that one replica or one set needs and the cluster lacks. */
function lackOf(
  { free, nodes }: Member,
  { unit, templates }: CountedTemplates,
  unmodelled: Unmodelled,
): string {
  if (free === undefined) return 'its status does not say what it has (status.resourceSummary)';
  const one = unit === 'sets' ? templates : templates.map((template) => ({ ...template, replicas: 1 }));
  const pods = one.reduce((sum, { replicas }) => sum + replicas, 0);
  const needed: Resources = new Map([...totalOf(one), ['pods', Math.max(pods, 1)]]);
  const short = [...needed].filter(([name, amount]) => amount > Math.max(free.get(name) ?? 0, 0)).sort();
  if (short.length > 0)
    return short
      .map(([name, amount]) => {
        const has = Math.max(free.get(name) ?? 0, 0);
        return `${formatCount(name, amount)} ${name} needed, ${formatCount(name, has)} free`;
      })
      .join('; ');
  const isUnknown = (name: string): boolean => nodes?.every((run) => !run.free.has(name)) === true;
  const unknown = unmodelled === 'none' ? [...needed.keys()].filter(isUnknown) : [];
  return unknown.length > 0
    ? `its resourceModels name no ${unknown.join(', ')}`
    : 'it has as much in all, but by its resourceModels not on its nodes';
}

/**
 * Whether a change of one cluster may let a waiting binding be placed or a placed one grow. When false, scheduling the
 * binding again would give the same result.
 * @param before undefined for a new cluster
 */
export function changeMayHelp(
  binding: Binding,
  before: Member | undefined,
  now: Member,
  strategies: Strategies,
): boolean {
  const plugin = strategies.pluginOf(binding.strategy);
  if (plugin === undefined) return false;
  return groupsOf(binding.placement).some((group) => {
    const inGroup = { ...binding, affinityName: group };
    if (!mayGo(inGroup, now, group)) return false;
    if (before === undefined || !mayGo(inGroup, before, group)) return true;
    // In a cluster where the workload runs, only its missing replicas have to fit, and they may be of any template.
    if (binding.clusters.some(({ name }) => name === now.name) && bindingTemplates(binding).length > 1)
      return [...(now.free ?? [])].some(([name, free]) => free > (before.free?.get(name) ?? 0));
    return capacityIn(inGroup, now, plugin) > capacityIn(inGroup, before, plugin);
  });
}

/** Whether the placement and the state of the cluster allow the workload there, regardless of capacity. */
export function mayGo(binding: Binding, member: Member, group: string): boolean {
  if (member.deleting) return false;
  const tier = tiersOf(binding, group)?.findIndex((one) => affinityMatches(one, member)) ?? 0;
  return obstacle(binding, member, tier) === undefined;
}
