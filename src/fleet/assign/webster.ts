import { fnv1a } from '../../text/fnv1a.ts';

/** A cluster with its votes: its weight or its capacity. */
export interface Votes {
  readonly name: string;
  readonly votes: number;
  /** Seats that the cluster has already and keeps. Absent: 0. */
  readonly seats?: number;
}

interface Party extends Votes {
  seats: number;
}

/**
 * Divides `seats` by Webster's (Sainte-Laguë's) method:
 * 1. Each seat goes to the cluster with the largest quotient votes / (2 × seats + 1).
 * 2. Among equal quotients the cluster with fewer seats gets it.
 * 3. Among clusters with equal seats the name decides: ascending, or descending for the half of all workloads whose uid
 *    hashes to an odd number, so that not all workloads prefer the same cluster.
 *
 * No cluster gets more seats than votes while there are at most as many seats as votes in all.
 * @param uid of the workload
 * @returns seats by name, earlier seats included
 */
export function divide(seats: number, among: readonly Votes[], uid: string): Map<string, number> {
  const downwards = uid !== '' && (fnv1a(uid) & 1) === 1;
  const heap: Party[] = among.map(({ seats: had = 0, ...one }) => ({ ...one, seats: had }));
  for (let at = heap.length >> 1; at >= 0; at -= 1) sink(heap, at, downwards);
  for (let left = seats; left > 0; left -= 1) {
    const [next] = heap;
    if (next === undefined) break;
    next.seats += 1;
    sink(heap, 0, downwards);
  }
  return new Map(heap.map((one) => [one.name, one.seats]));
}

function sink(heap: Party[], from: number, downwards: boolean): void {
  for (let at = from; ;) {
    let best = at;
    for (const child of [2 * at + 1, 2 * at + 2]) {
      const [one, other] = [heap[child], heap[best]];
      if (one !== undefined && other !== undefined && before(one, other, downwards)) best = child;
    }
    const [here, there] = [heap[at], heap[best]];
    if (best === at || here === undefined || there === undefined) return;
    heap[at] = there;
    heap[best] = here;
    at = best;
  }
}

function before(a: Party, b: Party, downwards: boolean): boolean {
  const [ofA, ofB] = [a.votes / (2 * a.seats + 1), b.votes / (2 * b.seats + 1)];
  if (ofA !== ofB) return ofA > ofB;
  if (a.seats !== b.seats) return a.seats < b.seats;
  return downwards ? a.name > b.name : a.name < b.name;
}
