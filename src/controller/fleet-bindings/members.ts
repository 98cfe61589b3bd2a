import { isDeepStrictEqual } from 'node:util';
import type { BindingComponent, Binding, TargetCluster } from '../../fleet/assign/binding.ts';
import { placedOf } from '../../fleet/assign/reschedule-reason.ts';
import { occupied } from '../../fleet/assign/estimate.ts';
import { bindingTemplates } from '../../fleet/assign/gang-strategies.ts';
import type { Member } from '../../fleet/assign/member.ts';

/**
 * How long what was placed counts as taken although no cluster has said so (ms). Karmada's clusters report every ten
 * seconds; until the Pods are made and bound some reports pass. Meanwhile they may count twice, which makes others wait.
 */
const COUNTED_MS = 60_000;

interface Placed {
  readonly until: number;
  /** What the binding had there when this began to count, and what it was given. */
  readonly from: TargetCluster | undefined;
  readonly to: TargetCluster;
  readonly components: readonly BindingComponent[];
  /** Whether the binding itself says so: then it was sent, whatever became of the answer. */
  stored: boolean;
}

/** A cluster whose room became another one. */
export type RoomChange = (before: Member | undefined, now: Member | undefined) => void;

/** The clusters of a fleet, less what was sent to them and is not in their reports yet. */
export class Members {
  readonly #reported = new Map<string, Member>();
  readonly #counted = new Map<string, Member>();
  /** By cluster, then by binding. */
  readonly #placed = new Map<string, Map<string, Placed>>();
  /** Where something of a binding is counted. */
  readonly #clustersOf = new Map<string, Set<string>>();
  readonly #changed: RoomChange;

  /** @param changed told of what clusters report, and of room that is counted as free again */
  constructor(changed: RoomChange) {
    this.#changed = changed;
  }

  all(): readonly Member[] {
    return [...this.#counted.values()];
  }

  /** A cluster as it reported, and less what was sent to it since. */
  inFlight(name: string): readonly [reported: Member | undefined, counted: Member | undefined] {
    return [this.#reported.get(name), this.#counted.get(name)];
  }

  /** Whether there is such a cluster and it is not being deleted. */
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
   * Counts what a binding gets more than it has, before it is written.
   * @returns what takes it back, where it was not sent after all
   */
  place(binding: Binding, after: readonly TargetCluster[], now: number): () => void {
    const added = after.flatMap((target) => this.#add(binding, target, now) ?? []);
    return () => {
      for (const undo of added) undo();
    };
  }

  /**
   * Counts what a stored binding has more than it had, whoever wrote it: also a write of Muster's of which no answer came,
   * or one that a former leader had on its way.
   */
  see(binding: Binding, had: readonly TargetCluster[], now: number): void {
    const before = { ...binding, clusters: had };
    for (const target of binding.clusters) {
      this.#add(before, target, now);
      const placed = this.#placed.get(target.name)?.get(binding.key);
      if (placed !== undefined) placed.stored = true;
    }
  }

  /** Counts all of a binding as sent at that time, by whoever led then. */
  remember(binding: Binding, at: number, now: number): void {
    if (at + COUNTED_MS > now) this.see(binding, [], at);
  }

  /** The same of one cluster; undefined where nothing is added. From one state to another it counts once. */
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

  /** A binding that is gone, or is not Muster's any more, takes nothing. */
  forget(key: string): void {
    for (const name of this.#clustersOf.get(key) ?? []) {
      const before = this.#counted.get(name);
      if (this.#placed.get(name)?.delete(key) !== true) continue;
      this.#count(name);
      this.#changed(before, this.#counted.get(name));
    }
    this.#clustersOf.delete(key);
  }

  /** Frees what has been counted for long enough. */
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

/** What is new of a binding in a cluster where it had something or nothing. */
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
