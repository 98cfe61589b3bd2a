import { quoted } from '../../text/printable.ts';
import type { Resources } from '../../k8s/field-reader.ts';

/** A FleetQueue, as far as it decides who is let through. */
export interface Queue {
  readonly name: string;
  /** Its share beside those of the same parent; 1 or more. */
  readonly weight: number;
  /** The queue that it is a part of; `''` for none. */
  readonly parent: string;
  /** What all that is let through it may ask for together, by resource; one that is not in it has no limit. */
  readonly capacity: Resources;
  /** Nothing is let through it, or through one that is a part of it. */
  readonly hold: boolean;
}

/** A queue at its place, or why it has none. */
export interface PlacedQueue {
  readonly queue: Queue;
  /** It, its parent and so on up to the one without a parent. */
  readonly chain: readonly Queue[];
  /** Why nothing can be let through it, whatever there is room for; undefined where something can. */
  readonly closed: { readonly reason: ClosedReason; readonly message: string } | undefined;
}

export type ClosedReason = 'ParentNotFound' | 'ParentCycle' | 'OnHold';

/** The longest way from a queue to the one without a parent: more is somebody's mistake. */
const MOST_LEVELS = 10;

/** Finds the place of each queue. */
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
