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
 * Gangs, which run with any number of replicas from their minimum on:
 * 1. Several templates go whole to one cluster that holds at least the minimum of each; where it runs goes first, then the
 *    most replicas.
 * 2. One template under `gang-no-divided` goes to one cluster: where it runs if that holds the minimum, else one that holds
 *    all, else the one with the most capacity.
 * 3. One template under `gang-divided` keeps what runs and divides the rest, among as few clusters as hold it.
 * 4. Where the minimum does not fit, the whole gang waits.
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
    // A workload whose one template is listed as a component is answered in the same words.
    if (binding.components.length === 0) return found;
    return found.map((one) => ({ ...one, components: [{ name: only.name, replicas: one.replicas }] }));
  },
};

interface Interval {
  readonly replicas: number;
  readonly least: number;
}

/** A workload of one template has it in its own fields, or as its only component. */
export function bindingTemplates(binding: Binding): readonly BindingComponent[] {
  const { components, replicas, requests, needs } = binding;
  if (components.length > 0) return components;
  return replicas > 0 || requests !== undefined
    ? [{ name: '', replicas, requests: requests ?? new Map(), ...(needs && { needs }) }]
    : [];
}

/** So many replicas of the template have to run. */
export const minAvailableFor = ({ minAvailable }: Binding, { name, replicas }: BindingComponent): number =>
  minAvailable.get(name) ?? replicas;

/** One that needs none is placed with its first replica: with nothing it would be nowhere. */
const intervalOf = (binding: Binding, template: BindingComponent): Interval => ({
  replicas: template.replicas,
  least: Math.max(minAvailableFor(binding, template), Math.min(1, template.replicas)),
});

/** The least of each template; where none needs any, a replica of the first that has some, as with one template. */
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
  // What runs stays where it is: only what is missing, or too much, is divided.
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
  // Whatever order they come in.
  const enough = [...holds(least)].sort(byRoomFirst);
  // A gang that runs is not moved because another cluster would hold more of it.
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
 * All templates in one cluster that holds them, or at least the least of each. Karmada sends a workload of several
 * templates whole: it knows no way to send fewer of one of them. So all of it counts as there, and what finds no room
 * waits in that cluster.
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

/** What who reads the result has to know: that more was sent than there is room for. */
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

/** Whether the cluster has room for so many replicas of each component, of those that it has included. */
export function fitsIn(
  { member, estimate }: Candidate,
  binding: Binding,
  counts: readonly number[],
): boolean {
  const { components } = binding;
  const there = binding.clusters.find(({ name }) => name === member.name);
  // Where nobody wrote down how many there are, all of it is there: whole is how it was sent.
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

/** How many replicas of each component have room, the least first; undefined where not even that has. */
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
