import { quoted } from '../../text/printable.ts';
import type { Resources } from '../../k8s/field-reader.ts';
import { formatCount } from '../../k8s/quantity.ts';

/** A FleetQueue, reduced to the fields that decide who is let through. */
export interface Queue {
  readonly name: string;
  /** Share relative to queues of the same parent; 1 or more. */
  readonly weight: number;
  /** Name of the parent queue; `''` for none. */
  readonly parent: string;
  /**
   * Upper limit of the total requests of gangs that are let through, by resource. A resource that is not in it has no limit.
   */
  readonly capacity: Resources;
  /** Whether nothing is let through this queue or its descendants. */
  readonly hold: boolean;
}

/** A queue in the tree, or the reason why it is outside. */
export interface PlacedQueue {
  readonly queue: Queue;
  /** The queue, its parent and so on up to the root. */
  readonly chain: readonly Queue[];
  /** Why nothing is let through the queue, regardless of capacity; undefined when it is open. */
  readonly closed: { readonly reason: ClosedReason; readonly message: string } | undefined;
}

export type ClosedReason = 'ParentNotFound' | 'ParentCycle' | 'OnHold';

/** Longest chain from a queue to its root; a longer one is taken for a mistake. */
const MOST_LEVELS = 10;

/** Builds the chain of each queue. */
export function queueTree(queues: Iterable<Queue>): ReadonlyMap<string, PlacedQueue> {
  const byName = new Map(Array.from(queues, (queue) => [queue.name, queue]));
  return new Map(Array.from(byName.values(), (queue) => [queue.name, placed(queue, byName)]));
}

function placed(queue: Queue, byName: ReadonlyMap<string, Queue>): PlacedQueue {
  const chain = [queue];
  for (let last = queue; last.parent !== '';) {
    const next = byName.get(last.parent);
    if (next === undefined) {
      const message = `queue ${quoted(last.name)} names the parent ${quoted(last.parent)}, which does not exist; create it, or take spec.parent away`;
      return { queue, chain, closed: { reason: 'ParentNotFound', message } };
    }
    if (chain.includes(next) || chain.length === MOST_LEVELS) {
      const way = [...chain, next].map(({ name }) => name).join(' → ');
      const message = `the parents of queue ${quoted(queue.name)} come to no end within ${MOST_LEVELS} levels (${way}); correct spec.parent of one of them`;
      return { queue, chain, closed: { reason: 'ParentCycle', message } };
    }
    chain.push(next);
    last = next;
  }
  const held = chain.find(({ hold }) => hold);
  if (held === undefined) return { queue, chain, closed: undefined };
  const message = `queue ${quoted(held.name)} is on hold; take spec.hold away to let gangs through`;
  return { queue, chain, closed: { reason: 'OnHold', message } };
}

/** A queue with too little capacity, and the resource. */
export interface Shortage {
  readonly queue: Queue;
  readonly resource: string;
  readonly asked: number;
  readonly free: number;
  readonly capacity: number;
}

/** Total requests that have been let through each queue and its descendants. */
export class QueueUsage {
  readonly #used = new Map<string, Map<string, number>>();

  /** @param chain a queue, its parent and so on up to the root */
  take(chain: readonly Queue[], requests: Resources): void {
    for (const { name } of chain) {
      const used = this.#used.getOrInsertComputed(name, () => new Map<string, number>());
      for (const [resource, amount] of requests) used.set(resource, (used.get(resource) ?? 0) + amount);
    }
  }

  used(queue: string): Resources {
    return this.#used.get(queue) ?? NOTHING;
  }

  /** The shortage in the outermost queue of the chain without enough capacity; undefined when every queue has enough. */
  shortage(chain: readonly Queue[], requests: Resources): Shortage | undefined {
    return chain.reduce<Shortage | undefined>(
      (found, queue) => this.#shortIn(queue, requests, this.used(queue.name)) ?? found,
      undefined,
    );
  }

  #shortIn(queue: Queue, requests: Resources, used: Resources): Shortage | undefined {
    for (const [resource, capacity] of queue.capacity) {
      const asked = requests.get(resource) ?? 0;
      const free = Math.max(0, capacity - (used.get(resource) ?? 0));
      if (asked > free) return { queue, resource, asked, free, capacity };
    }
    return undefined;
  }
}

const NOTHING: Resources = new Map();

/** Whether the request exceeds the whole capacity of the queue. */
export const isHopeless = ({ asked, capacity }: Shortage): boolean => asked > capacity;

export function shortageText(shortage: Shortage): string {
  const { queue, resource, asked, free, capacity } = shortage;
  const [wanted, left, all] = [asked, free, capacity].map((count) => formatCount(resource, count));
  return isHopeless(shortage)
    ? `asks for ${wanted} ${resource}, more than the ${all} of queue ${quoted(queue.name)}; raise spec.capacity or ask for less`
    : `queue ${quoted(queue.name)} has ${left} of ${all} ${resource} left, and ${wanted} are needed`;
}
