import type { PlacedQueue } from './queue-tree.ts';

/**
 * How many Pods fewer than its share a queue has let through. Absent: 0. Lost deficits only restart fairness from 0. The key
 * {@link overdueKey} of a queue has its deficit of overdue turns.
 */
export type Deficits = ReadonlyMap<string, number>;

/** A key that is no queue's name. */
export const overdueKey = (key: string): string => `${key}!`;

/** A queue with its child queues, or the gangs that wait directly in a queue. */
interface Turn<T> {
  /** Name of the queue; `name/` for the gangs that wait directly in the queue `name`, since no queue's name contains `/`. */
  readonly key: string;
  readonly weight: number;
  readonly parts: Map<string, Turn<T>>;
  /** Waiting gangs, the first one last. */
  readonly waiting: T[];
  /** Number of waiting gangs, here or in child queues, with overdue turns. */
  pressing: number;
  /**
   * Whether capacity has been reserved for one of its gangs that did not fit: every later gang of the queue passes over it.
   */
  passed: boolean;
}

/** Waiting gangs of one queue. */
export interface Lane<T> {
  readonly at: PlacedQueue;
  /** In order, the first one first. */
  readonly waiting: readonly T[];
  /** Number of gangs at the beginning of `waiting` with overdue turns. */
  readonly pressing: number;
}

/**
 * The choice at one level of the tree: the candidates, the candidates with overdue turns when the chosen one is overdue, and
 * the chosen one.
 */
interface Choice<T> {
  readonly among: readonly Turn<T>[];
  readonly overdue: readonly Turn<T>[];
  readonly chosen: Turn<T>;
}

/**
 * The next gang, with a callback for letting it through with its number of Pods and a callback for reserving capacity for
 * it.
 */
export interface Next<T> {
  readonly one: T;
  readonly letThrough: (pods: number) => void;
  readonly kept: () => void;
}

/**
 * Deficit round robin at each level of the queue tree:
 * 1. The queue with the largest deficit by weight is next.
 * 2. Its Pods are subtracted from its deficit and credited to all waiting queues of the level by weight.
 * 3. Queues with an overdue gang come first, since newcomers would take all freed capacity otherwise. They keep a separate
 *    deficit, so that serving small gangs does not starve the one for which capacity is reserved.
 * 4. A queue that passes over such a gang comes after all overdue queues of its level, for the same reason.
 */
export class DeficitRoundRobin<T> {
  readonly #deficits: Map<string, number>;
  readonly #root: Turn<T>;

  constructor(lanes: readonly Lane<T>[], deficits: Deficits) {
    this.#root = turn('', 1);
    const waited = new Set<string>();
    for (const { at, waiting, pressing } of lanes) {
      if (waiting.length === 0) continue;
      let node = this.#root;
      const enter = (key: string, weight: number): void => {
        node = part(node, key, weight);
        node.pressing += pressing;
        waited.add(key);
        if (pressing > 0) waited.add(overdueKey(key));
      };
      for (const { name, weight } of at.chain.toReversed()) enter(name, weight);
      enter(`${at.queue.name}/`, 1);
      node.waiting.push(...waiting.toReversed());
    }
    // A queue without waiting gangs keeps no deficit, as in every deficit round robin.
    this.#deficits = new Map([...deficits].filter(([key]) => waited.has(key)));
  }

  get deficits(): Deficits {
    return this.#deficits;
  }

  /** undefined when no gang is left. */
  next(): Next<T> | undefined {
    const path: Choice<T>[] = [];
    let node = this.#root;
    while (node.parts.size > 0) {
      const among = [...node.parts.values()];
      const chosen = among.reduce((best, other) => (this.#isBefore(other, best) ? other : best));
      const overdue = rankOf(chosen) === 0 ? among.filter(({ pressing }) => pressing > 0) : [];
      path.push({ among, overdue, chosen });
      node = chosen;
    }
    const one = node.waiting.pop();
    if (one === undefined) return undefined;
    if (node.pressing > 0) for (const { chosen } of path) chosen.pressing -= 1;
    this.#prune(path.map(({ chosen }) => chosen));
    return {
      one,
      letThrough: (pods) => {
        const cost = Math.max(1, pods);
        for (const { among, overdue, chosen } of path) {
          this.#share(cost, among, chosen, ({ key }) => key);
          if (overdue.length > 0) this.#share(cost, overdue, chosen, ({ key }) => overdueKey(key));
        }
      },
      kept: () => {
        for (const { chosen } of path) chosen.passed = true;
      },
    };
  }

  #isBefore(one: Turn<T>, other: Turn<T>): boolean {
    const [rank, his] = [rankOf(one), rankOf(other)];
    if (rank !== his) return rank < his;
    const overdue =
      rank === 0 ? this.#owed(other, overdueKey(other.key)) - this.#owed(one, overdueKey(one.key)) : 0;
    const less = overdue || this.#owed(other, other.key) - this.#owed(one, one.key);
    return less === 0 ? one.key < other.key : less < 0;
  }

  #owed = ({ weight }: Turn<T>, key: string): number => (this.#deficits.get(key) ?? 0) / weight;

  #share(cost: number, among: readonly Turn<T>[], chosen: Turn<T>, keyOf: (turn: Turn<T>) => string): void {
    const all = among.reduce((sum, { weight }) => sum + weight, 0);
    for (const one of among) this.#add(keyOf(one), (cost * one.weight) / all);
    this.#add(keyOf(chosen), -cost);
  }

  #add(key: string, amount: number): void {
    this.#deficits.set(key, (this.#deficits.get(key) ?? 0) + amount);
  }

  /** Removes queues without waiting gangs, the innermost first. */
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
  ...{ pressing: 0, passed: false },
});

/** Rank of a queue: overdue first, then queues that pass over a gang with reserved capacity, then all others. */
const rankOf = ({ pressing, passed }: Turn<unknown>): number => (pressing === 0 ? 2 : passed ? 1 : 0);

const part = <T>(node: Turn<T>, key: string, weight: number): Turn<T> =>
  node.parts.getOrInsertComputed(key, () => turn(key, weight));
