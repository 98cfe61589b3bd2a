import { isDeepStrictEqual } from 'node:util';
import type { BindingComponent, Binding, TargetCluster } from '../../fleet/assign/binding.ts';
import { placedOf } from '../../fleet/assign/reschedule-reason.ts';
import { occupied } from '../../fleet/assign/estimate.ts';
import { bindingTemplates } from '../../fleet/assign/gang-strategies.ts';
import type { Member } from '../../fleet/assign/member.ts';

/**
 * How long (ms) placed replicas count as taken while no cluster has reported them. Karmada's clusters report every ten
 * seconds, and several reports pass until the Pods are created and bound. Replicas may be counted twice meanwhile,
 * which only makes other bindings wait.
 */
const COUNTED_MS = 60_000;

interface Placed {
  readonly until: number;
  /** The binding's replicas in the cluster before counting began, and the replicas it was given. */
  readonly from: TargetCluster | undefined;
  readonly to: TargetCluster;
  readonly components: readonly BindingComponent[];
  /** Whether the stored binding contains the replicas: then the write succeeded, whatever answer was received. */
  stored: boolean;
}

/** Called when a cluster's capacity or description changed. */
export type RoomChange = (before: Member | undefined, now: Member | undefined) => void;

/** The clusters of a fleet, minus the replicas that were placed on them and are not in their reports yet. */
export class Members {
  readonly #reported = new Map<string, Member>();
  readonly #counted = new Map<string, Member>();
  /** By cluster, then by binding. */
  readonly #placed = new Map<string, Map<string, Placed>>();
  /** Clusters in which replicas of a binding are counted, by binding. */
  readonly #clustersOf = new Map<string, Set<string>>();
  readonly #changed: RoomChange;

  /** @param changed called when a cluster reports, and when counted capacity becomes free again */
  constructor(changed: RoomChange) {
    this.#changed = changed;
  }

  all(): readonly Member[] {
    return [...this.#counted.values()];
  }

  /** A cluster as reported, and minus the replicas placed on it since. */
  inFlight(name: string): readonly [reported: Member | undefined, counted: Member | undefined] {
    return [this.#reported.get(name), this.#counted.get(name)];
  }

  /** Whether the cluster exists and is not being deleted. */
  readonly stays = (name: string): boolean => this.#reported.get(name)?.deleting === false;

  report(name: string, member: Member | undefined): void {
    const before = this.#counted.get(name);
    if (member === undefined) {
      this.#reported.delete(name);
      this.#counted.delete(name);
      this.#placed.delete(name);
    } else {
      this.#reported.set(name, member);
      this.#count(name);
    }
    this.#changed(before, this.#counted.get(name));
  }

  /**
   * Counts the replicas that a binding gains, before they are written.
   * @returns a function that undoes the count when the write failed
   */
  place(binding: Binding, after: readonly TargetCluster[], now: number): () => void {
    const added = after.flatMap((target) => this.#add(binding, target, now) ?? []);
    return () => {
      for (const undo of added) undo();
    };
  }

  /**
   * Counts the replicas that a stored binding gained, whoever wrote them: this includes a write of Muster's that was
   * never answered and a late write of a former leader.
   */
  see(binding: Binding, had: readonly TargetCluster[], now: number): void {
    const before = { ...binding, clusters: had };
    for (const target of binding.clusters) {
      this.#add(before, target, now);
      const placed = this.#placed.get(target.name)?.get(binding.key);
      if (placed !== undefined) placed.stored = true;
    }
  }

  /** Counts all replicas of a binding as placed at that time by an earlier leader. */
  remember(binding: Binding, at: number, now: number): void {
    if (at + COUNTED_MS > now) this.see(binding, [], at);
  }

  /** Counts one cluster of a binding, once per transition; returns undefined when the binding gained nothing there. */
  #add(binding: Binding, to: TargetCluster, now: number): (() => void) | undefined {
    const { key } = binding;
    const { name } = to;
    const known = this.#placed.get(name)?.get(key);
    const before = known !== undefined && known.until > now ? known : undefined;
    if (before !== undefined && isDeepStrictEqual(before.to, to)) return undefined;
    const from = before === undefined ? binding.clusters.find((one) => one.name === name) : before.from;
    const components = moreOf(binding, from, to);
    if (components.length === 0) return undefined;
    const placed: Placed = { until: now + COUNTED_MS, from, to, components, stored: false };
    const here = this.#placed.getOrInsert(name, new Map<string, Placed>());
    here.set(key, placed);
    this.#clustersOf.getOrInsert(key, new Set()).add(name);
    const counted = this.#counted.get(name);
    if (known !== undefined) this.#count(name);
    else if (counted !== undefined) this.#counted.set(name, occupied(counted, components));
    return () => {
      if (placed.stored || here.get(key) !== placed) return;
      if (before === undefined) here.delete(key);
      else here.set(key, before);
      this.#count(name);
    };
  }

  /** Drops the counts of a binding that is gone or that Muster no longer schedules. */
  forget(key: string): void {
    for (const name of this.#clustersOf.get(key) ?? []) {
      const before = this.#counted.get(name);
      if (this.#placed.get(name)?.delete(key) !== true) continue;
      this.#count(name);
      this.#changed(before, this.#counted.get(name));
    }
    this.#clustersOf.delete(key);
  }

  /** Drops counts that are older than COUNTED_MS. */
  expire(now: number): void {
    for (const [name, here] of this.#placed) {
      const old = [...here].filter(([, { until }]) => until <= now);
      if (old.length === 0) continue;
      for (const [key] of old) {
        here.delete(key);
        this.#clustersOf.get(key)?.delete(name);
        if (this.#clustersOf.get(key)?.size === 0) this.#clustersOf.delete(key);
      }
      if (here.size === 0) this.#placed.delete(name);
      const before = this.#counted.get(name);
      this.#count(name);
      this.#changed(before, this.#counted.get(name));
    }
  }

  clear(): void {
    const names = [...this.#placed.keys()];
    this.#placed.clear();
    this.#clustersOf.clear();
    for (const name of names) this.#count(name);
  }

  #count(name: string): void {
    const reported = this.#reported.get(name);
    if (reported === undefined) return;
    const here = [...(this.#placed.get(name)?.values() ?? [])];
    this.#counted.set(
      name,
      here.reduce((member, { components }) => occupied(member, components), reported),
    );
  }
}

/** The replicas that a binding gained in a cluster. */
function moreOf(
  binding: Binding,
  had: TargetCluster | undefined,
  target: TargetCluster,
): readonly BindingComponent[] {
  const templates = bindingTemplates(binding);
  return templates.flatMap((template) => {
    const replicas =
      placedOf(target, template, templates.length) -
      (had === undefined ? 0 : placedOf(had, template, templates.length));
    return replicas > 0 ? [{ ...template, replicas }] : [];
  });
}
