import { formatCount } from '../../k8s/quantity.ts';
import type { Resources } from '../../k8s/field-reader.ts';
import type { Binding } from './binding.ts';
import type { Candidate } from './candidate.ts';
import { totalOf, type Unmodelled } from './estimate.ts';
import type { Member } from './member.ts';
import type { Assigner } from './plugin.ts';
import { countedOf, roomIn, type Counted } from './room-in.ts';

/** Why a cluster that nothing else speaks against gets nothing: the room that it has, and without any what it lacks. */
export function whyNotTaken(
  binding: Binding,
  { member, available, estimate }: Candidate,
  plugin: Assigner,
  verdict: 'is not needed' | 'is not enough',
): string {
  const counted = countedOf(binding, plugin);
  // Of what has no Pods no room is counted.
  if (counted === undefined) return verdict;
  if (available > 0) return `${verdict}: it has room for ${amountOf(available, counted, plugin)}`;
  const isFull = roomIn(binding, member, plugin) === 0;
  const why =
    isFull || estimate === undefined
      ? lackOf(member, counted, plugin.room?.unmodelled ?? 'none')
      : 'its estimator finds none';
  return `has no room: ${why}`;
}

function amountOf(available: number, { unit, templates }: Counted, { room }: Assigner): string {
  const many = (one: string, more: string): string => `${available} ${available === 1 ? one : more}`;
  if (unit === 'sets')
    return `${many('set', 'sets')} of ${room === undefined ? 'all templates' : 'the least of each template'}`;
  return templates.length === 0 ? many('Pod', 'Pods') : many('replica', 'replicas');
}

/** What one replica, or one set, needs more of than there is. */
function lackOf({ free, nodes }: Member, { unit, templates }: Counted, unmodelled: Unmodelled): string {
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
