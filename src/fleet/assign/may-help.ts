import { takes } from './affinity.ts';
import type { Binding } from './binding.ts';
import { groupsOf, obstacle, tiersOf } from './filter.ts';
import { templatesOf } from './gang-strategies.ts';
import type { Member } from './member.ts';
import { roomIn } from './room-in.ts';
import type { Strategies } from './strategies.ts';

/**
 * Whether what changed of one cluster may give a place to a binding that waits for one, or more of it to one that grows.
 * For all that it says no to, another look would come out as the last one did.
 * @param before undefined where the cluster is new
 */
export function mayHelp(
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
    // Of what runs there only what is missing has to fit, which may be any of its templates.
    if (binding.clusters.some(({ name }) => name === now.name) && templatesOf(binding).length > 1)
      return [...(now.free ?? [])].some(([name, free]) => free > (before.free?.get(name) ?? 0));
    return roomIn(inGroup, now, plugin) > roomIn(inGroup, before, plugin);
  });
}

/** Whether the cluster could take it, of what the placement and the cluster are. */
export function mayGo(binding: Binding, member: Member, group: string): boolean {
  if (member.deleting) return false;
  const tier = tiersOf(binding, group)?.findIndex((one) => takes(one, member)) ?? 0;
  return obstacle(binding, member, tier) === undefined;
}
