import { quoted } from '../../text/printable.ts';
import type { Binding, BindingComponent, TargetCluster } from './binding.ts';
import { sumOfAvailable, Unplaced, type Candidate } from './candidate.ts';
import { byRoom, targetClustersOf, shortestThatHolds, withReplicas } from './default-strategy.ts';
import { fits } from './estimate.ts';
import type { Assigner } from './assigner.ts';
import { divide } from './webster.ts';

const GANG_DIVIDED = 'gang-divided';
const GANG_NO_DIVIDED = 'gang-no-divided';

/**
 * Strategies for gangs, which run with any number of replicas from their minimum on:
 * 1. Several templates go whole to one cluster that holds at least the minimum of each: the current cluster first, then the
 *    one with capacity for the most replicas.
 * 2. One template under `gang-no-divided` goes to one cluster: the current one when it holds the minimum, else one that
 *    holds all replicas, else the one with the most capacity.
 * 3. One template under `gang-divided` keeps its running replicas and divides the rest among as few clusters as hold it.
 * 4. When the minimum does not fit, the whole gang waits.
 */
export const gangStrategies: Assigner = {
  name: 'gang',
  strategies: () => [GANG_DIVIDED, GANG_NO_DIVIDED],
  room: {
    unmodelled: 'summary',
    least: (binding) => {
      const [only, ...others] = bindingTemplates(binding);
      return only === undefined || others.length > 0 ? 1 : intervalOf(binding, only).least;
    },
  },
  remark: remarkOn,
  assignReplica: (strategy, clusters, binding) => {
    const [only, ...others] = bindingTemplates(binding);
    if (only === undefined) return clusters.map(({ name }) => ({ name, replicas: 0 }));
    if (others.length > 0) return [together(clusters, binding)];
    const interval = intervalOf(binding, only);
    const found =
      strategy === GANG_DIVIDED
        ? divided(clusters, binding, interval)
        : [undivided(clusters, binding, interval)];
    // When the only template is listed as a component, the target cluster lists it as a component too.
    if (binding.components.length === 0) return found;
    return found.map((one) => ({ ...one, components: [{ name: only.name, replicas: one.replicas }] }));
  },
};

interface Interval {
  readonly replicas: number;
  readonly least: number;
}

/** The templates of a binding: a single template is in the binding's own fields, or is its only component. */
export function bindingTemplates(binding: Binding): readonly BindingComponent[] {
  const { components, replicas, requests, needs } = binding;
  if (components.length > 0) return components;
  return replicas > 0 || requests !== undefined
    ? [{ name: '', replicas, requests: requests ?? new Map(), ...(needs && { needs }) }]
    : [];
}

/** Replicas of the template that have to run. */
export const minAvailableFor = ({ minAvailable }: Binding, { name, replicas }: BindingComponent): number =>
  minAvailable.get(name) ?? replicas;

/** A template without a minimum is placed from its first replica on: with 0 replicas it would be in no cluster. */
const intervalOf = (binding: Binding, template: BindingComponent): Interval => ({
  replicas: template.replicas,
  least: Math.max(minAvailableFor(binding, template), Math.min(1, template.replicas)),
});

/**
 * The minimum of each template. When every minimum is 0, one replica of the first template with replicas, as with a single
 * template.
 */
export function leastSet(binding: Binding): readonly BindingComponent[] {
  const templates = bindingTemplates(binding);
  const least = templates.map((one) => ({ ...one, replicas: minAvailableFor(binding, one) }));
  if (least.some(({ replicas }) => replicas > 0)) return least;
  const first = templates.findIndex(({ replicas }) => replicas > 0);
  return least.map((one, index) => (index === first ? { ...one, replicas: 1 } : one));
}

const tooFragmented = (what: string): Unplaced =>
  new Unplaced('Unschedulable', `no available scheduling results: ${what}`);

const replicasOn = (binding: Binding, cluster: string): number =>
  binding.clusters.find(({ name }) => name === cluster)?.replicas ?? 0;

function divided(
  clusters: readonly Candidate[],
  binding: Binding,
  { replicas, least }: Interval,
): readonly TargetCluster[] {
  const room = sumOfAvailable(clusters);
  if (room < least)
    throw tooFragmented(`the clusters hold ${room} replicas together, of which ${least} are needed at least`);
  const target = Math.min(replicas, room);
  const placed = clusters.reduce((sum, { name }) => sum + replicasOn(binding, name), 0);
  // Running replicas stay where they are: only missing or surplus ones are divided.
  if (placed > 0 && !binding.fresh)
    return withReplicas(byRoom(clusters, { ...binding, replicas: target }, true));
  const ordered = [...clusters]
    .sort((a, b) => inUse(binding, b) - inUse(binding, a) || byRoomFirst(a, b))
    .map(({ name, available }) => ({ name, votes: available }));
  return withReplicas(targetClustersOf(divide(target, shortestThatHolds(target, ordered), binding.uid)));
}

const inUse = (binding: Binding, { name }: Candidate): number =>
  binding.clusters.some((one) => one.name === name) ? 1 : 0;

const byRoomFirst = (a: Candidate, b: Candidate): number =>
  b.available - a.available || b.score - a.score || (a.name < b.name ? -1 : 1);

function undivided(
  clusters: readonly Candidate[],
  binding: Binding,
  { replicas, least }: Interval,
): TargetCluster {
  const holds = (count: number): readonly Candidate[] =>
    clusters.filter(({ available }) => available >= count);
  // Sorted, so that the input order has no effect.
  const enough = [...holds(least)].sort(byRoomFirst);
  // A running gang is not moved to a cluster that holds more of it.
  const stays = binding.fresh ? undefined : enough.find(({ name }) => replicasOn(binding, name) > 0);
  const full = holds(replicas);
  const [best] = [...(full.length > 0 ? full : enough)].sort(
    (a, b) => inUse(binding, b) - inUse(binding, a) || byRoomFirst(a, b),
  );
  const chosen = stays ?? best;
  if (chosen === undefined) {
    const room = sumOfAvailable(clusters);
    const most = Math.max(0, ...clusters.map(({ available }) => available));
    throw tooFragmented(
      `the clusters hold ${room} replicas together and ${most} at most in one, of which ${least} are needed at least`,
    );
  }
  return { name: chosen.name, replicas: Math.min(replicas, chosen.available) };
}

/**
 * Places all templates in one cluster that holds them, or at least the minimum of each. Karmada has no way to send a part of
 * a workload with several templates, so all replicas count as placed, and those without capacity wait in that cluster.
 */
function together(clusters: readonly Candidate[], binding: Binding): TargetCluster {
  const { components } = binding;
  const options = clusters.flatMap((candidate) => {
    const room = roomFor(candidate, binding);
    return room === undefined ? [] : [{ candidate, total: room.reduce((sum, one) => sum + one, 0) }];
  });
  const isThere = ({ candidate }: (typeof options)[number]): number =>
    !binding.fresh && inUse(binding, candidate) === 1 ? 1 : 0;
  const [best] = options.sort(
    (a, b) => isThere(b) - isThere(a) || b.total - a.total || byRoomFirst(a.candidate, b.candidate),
  );
  if (best === undefined)
    throw tooFragmented(`no cluster holds the least of all templates (${countsText(leastSet(binding))})`);
  return {
    name: best.candidate.name,
    replicas: 0,
    components: components.map(({ name, replicas }) => ({ name, replicas })),
  };
}

/** A remark for the result when more replicas were sent than the cluster has capacity for. */
function remarkOn(
  clusters: readonly Candidate[],
  binding: Binding,
  [target]: readonly TargetCluster[],
): string | undefined {
  const { components } = binding;
  const chosen = clusters.find(({ name }) => name === target?.name);
  if (components.length < 2 || chosen === undefined) return undefined;
  const room = roomFor(chosen, binding) ?? [];
  if (components.every(({ replicas }, index) => room[index] === replicas)) return undefined;
  const held = components.map((one, index) => ({ ...one, replicas: room[index] ?? 0 }));
  return `Cluster ${quoted(chosen.name)} had room for ${countsText(held)} and not for all (${countsText(components)}); Karmada sends several templates whole, and the rest waits there.`;
}

const countsText = (components: readonly BindingComponent[]): string =>
  components.map(({ name, replicas }) => `${name} ${replicas}`).join(', ');

/** Whether the cluster holds this number of replicas of each component, current ones included. */
export function fitsIn(
  { member, estimate }: Candidate,
  binding: Binding,
  counts: readonly number[],
): boolean {
  const { components } = binding;
  const there = binding.clusters.find(({ name }) => name === member.name);
  // Without recorded numbers, all replicas are in the cluster, since Karmada sends a workload whole.
  const written = there === undefined ? [] : (there.components ?? components);
  const has = components.map(({ name }) => written.find((one) => one.name === name)?.replicas ?? 0);
  if (estimate?.room === 0) return false;
  const grows = components.some(
    (one, index) => (counts[index] ?? 0) > Math.max(minAvailableFor(binding, one), has[index] ?? 0),
  );
  if (estimate?.whole === false && grows) return false;
  const more = components.map((one, index) => ({
    ...one,
    replicas: (counts[index] ?? 0) - (has[index] ?? 0),
  }));
  return fits(member, more, 'summary');
}

/** Number of replicas of each component that fit, minimums first; undefined when the minimums do not fit. */
function roomFor(candidate: Candidate, binding: Binding): readonly number[] | undefined {
  const counts = leastSet(binding).map(({ replicas }) => replicas);
  const room = (): boolean => fitsIn(candidate, binding, counts);
  if (!room()) return undefined;
  for (const [index, { replicas }] of binding.components.entries()) {
    let [low, high] = [counts[index] ?? 0, replicas];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      counts[index] = middle;
      if (room()) low = middle;
      else high = middle - 1;
    }
    counts[index] = low;
  }
  return counts;
}
