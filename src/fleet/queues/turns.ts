import type { PlacedQueue } from './queue-tree.ts';

/**
 * How much less than its share of what was let through a queue has got, in Pods. Absent: 0. It is what fairness goes by;
 * who loses it begins anew, and nothing else follows.
 */
export type Deficits = ReadonlyMap<string, number>;

/** A queue with those that are a part of it, or the gangs that wait in the queue itself. */
interface Turn<T> {
  /** Name of the queue; of gangs that wait in a queue with parts `name/`, which no queue is called. */
  readonly key: string;
  readonly weight: number;
  readonly parts: Map<string, Turn<T>>;
  /** Who waits here, the first one last. */
  readonly waiting: T[];
  /** How many of those that wait here or in its parts come before all the others. */
  pressing: number;
  /** Since when the oldest waits for whom weight counts no more, here or in its parts; Infinity for none. */
  late: number;
}

/** Who waits in one queue. */
export interface Lane<T> {
  readonly at: PlacedQueue;
  /** The first one first. */
  readonly waiting: readonly T[];
  /** How many of the first ones have pressing turns. */
  readonly pressing: number;
  /** Since when somebody waits for whom weight counts no more; undefined for all others. */
  readonly lateSince: (one: T) => number | undefined;
}

/**
 * Whose turn it is, by deficit round robin at each level of the tree: the one with the largest deficit by weight. Where
 * somebody has waited for too long goes before where nobody has, or newcomers would take each room that comes free; and
 * where the wait is longer still the oldest goes first, whatever its queue got before. What one gets the others of its
 * level, who wait as well, are credited with by their weights.
 */
export class Turns<T> {
  readonly #deficits: Map<string, number>;
  readonly #root: Turn<T>;
  /** Of gangs that wait in one queue: `late` with so many of them left. */
  readonly #oldest = new Map<Turn<T>, number[]>();

  constructor(lanes: readonly Lane<T>[], deficits: Deficits) {
    this.#root = turn('', 1);
    const waited = new Set<string>();
    for (const { at, waiting, pressing, lateSince } of lanes) {
      if (waiting.length === 0) continue;
      const oldest = oldestFrom(waiting, lateSince);
      let node = this.#root;
      for (const { name, weight } of at.chain.toReversed()) {
        waited.add(name);
        node = part(node, name, weight);
        node.pressing += pressing;
        node.late = Math.min(node.late, oldest.at(-1) ?? Infinity);
      }
      const own = `${at.queue.name}/`;
      waited.add(own);
      const lane = part(node, own, 1);
      lane.waiting.push(...waiting.toReversed());
      lane.pressing += pressing;
      lane.late = oldest.at(-1) ?? Infinity;
      this.#oldest.set(lane, oldest);
    }
    // As in any deficit round robin: who has nothing to send keeps no deficit for later.
    this.#deficits = new Map([...deficits].filter(([key]) => waited.has(key)));
  }

  get deficits(): Deficits {
    return this.#deficits;
  }

  /** The next one, and what is to be called if it is let through: with its Pods. undefined: nobody is left. */
  next(): { readonly one: T; readonly letThrough: (pods: number) => void } | undefined {
    const path: { readonly among: readonly Turn<T>[]; readonly chosen: Turn<T> }[] = [];
    let node = this.#root;
    while (node.parts.size > 0) {
      const among = [...node.parts.values()];
      const chosen = among.reduce((best, other) => (this.#isBefore(other, best) ? other : best));
      path.push({ among, chosen });
      node = chosen;
    }
    const one = node.waiting.pop();
    if (one === undefined) return undefined;
    if (node.pressing > 0) for (const { chosen } of path) chosen.pressing -= 1;
    node.late = this.#oldest.get(node)?.[node.waiting.length - 1] ?? Infinity;
    for (const { chosen } of path.toReversed())
      if (chosen !== node) chosen.late = Math.min(...Array.from(chosen.parts.values(), ({ late }) => late));
    this.#prune(path.map(({ chosen }) => chosen));
    return {
      one,
      letThrough: (pods) => {
        const cost = Math.max(1, pods);
        for (const { among, chosen } of path) {
          const all = among.reduce((sum, { weight }) => sum + weight, 0);
          for (const { key, weight } of among) this.#add(key, (cost * weight) / all);
          this.#add(chosen.key, -cost);
        }
      },
    };
  }

  #isBefore(one: Turn<T>, other: Turn<T>): boolean {
    if (one.late !== other.late) return one.late < other.late;
    if (one.pressing > 0 !== other.pressing > 0) return one.pressing > 0;
    const [mine, his] = [this.#owed(one), this.#owed(other)];
    return mine === his ? one.key < other.key : mine > his;
  }

  #owed = ({ key, weight }: Turn<T>): number => (this.#deficits.get(key) ?? 0) / weight;

  #add(key: string, amount: number): void {
    this.#deficits.set(key, (this.#deficits.get(key) ?? 0) + amount);
  }

  /** Takes away who has nobody left, the innermost first. */
  #prune(path: readonly Turn<T>[]): void {
    for (let depth = path.length - 1; depth >= 0; depth -= 1) {
      const node = path[depth];
      if (node === undefined || node.waiting.length > 0 || node.parts.size > 0) return;
      (path[depth - 1] ?? this.#root).parts.delete(node.key);
    }
  }
}

const turn = <T>(key: string, weight: number): Turn<T> => ({
  ...{ key, weight, parts: new Map(), waiting: [] },
  pressing: 0,
  late: Infinity,
});

/** By how many of those that wait are left, less one: since when the oldest of them waits for whom weight counts no more. */
function oldestFrom<T>(waiting: readonly T[], lateSince: (one: T) => number | undefined): number[] {
  let oldest = Infinity;
  return waiting.toReversed().map((one) => (oldest = Math.min(oldest, lateSince(one) ?? Infinity)));
}

const part = <T>(node: Turn<T>, key: string, weight: number): Turn<T> =>
  node.parts.getOrInsertComputed(key, () => turn(key, weight));
