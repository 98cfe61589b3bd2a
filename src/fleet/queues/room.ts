import { formatCount } from '../../k8s/quantity.ts';
import { quoted } from '../../text/printable.ts';
import type { Resources } from '../../k8s/field-reader.ts';
import type { Queue } from './queue-tree.ts';

/** A queue that has too little, of which resource. */
export interface Shortage {
  readonly queue: Queue;
  readonly resource: string;
  readonly asked: number;
  readonly free: number;
  readonly capacity: number;
}

/** What has been let through each queue and those that are a part of it. */
export class Room {
  readonly #used = new Map<string, Map<string, number>>();

  /** @param chain a queue, its parent and so on */
  take(chain: readonly Queue[], requests: Resources): void {
    for (const { name } of chain) {
      const used = this.#used.getOrInsertComputed(name, () => new Map<string, number>());
      for (const [resource, amount] of requests) used.set(resource, (used.get(resource) ?? 0) + amount);
    }
  }

  used(queue: string): Resources {
    return this.#used.get(queue) ?? NOTHING;
  }

  /** The outermost queue of the chain that has too little; undefined where there is room in all of them. */
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

/** Whether it would not even fit if nothing else were there. */
export const isHopeless = ({ asked, capacity }: Shortage): boolean => asked > capacity;

export function shortageText(shortage: Shortage): string {
  const { queue, resource, asked, free, capacity } = shortage;
  const [wanted, left, all] = [asked, free, capacity].map((count) => formatCount(resource, count));
  return isHopeless(shortage)
    ? `asks for ${wanted} ${resource}, more than the ${all} of queue ${quoted(queue.name)}; raise spec.capacity or ask for less`
    : `queue ${quoted(queue.name)} has ${left} of ${all} ${resource} left, and ${wanted} are needed`;
}
