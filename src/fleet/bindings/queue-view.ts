import { dispatch, type Dispatched, type QueuedGang, type QueueStanding } from '../queues/dispatch.ts';
import { claimOf, deficitsOf, releasingOf, type QueueRecord } from '../queues/read-queue.ts';
import type { QueuedBinding } from './queued-binding.ts';

/** Why placement of a namespace's bindings is halted, as a sentence; undefined when it is not. */
export type PlacementHalt = (namespace: string) => string | undefined;

/** State of queues and bindings, computed from the objects of the API server. */
export interface QueueView extends Omit<Dispatched, 'standings'> {
  readonly standings: readonly QueueStanding[];
  readonly through: readonly QueuedGang[];
  /** Bindings that a queue has begun to let through and that are still suspended. */
  readonly begun: readonly QueuedBinding[];
}

/** Who waits, who is through, and whose turn is next. The controller and the command line use the same function. */
export function viewQueues(
  bindings: readonly QueuedBinding[],
  queues: readonly QueueRecord[],
  given: {
    readonly now: number;
    readonly reserveAfterMs: number;
    readonly most?: number;
    readonly standstill?: PlacementHalt;
  },
): QueueView {
  const claims = new Set(queues.flatMap(releasingOf));
  const waiting: QueuedGang[] = [];
  const through: QueuedGang[] = [];
  const begun: QueuedBinding[] = [];
  const unreadable: { readonly gang: QueuedGang; readonly why: string }[] = [];
  for (const binding of bindings) {
    const { gang, fault, held, unread, placed, finished, deleting } = binding;
    if (gang === undefined || unread || finished) continue;
    const why = given.standstill?.(binding.namespace) ?? fault;
    const isBegun = held && (placed || claims.has(claimOf(gang)));
    if (!held || isBegun) through.push(gang);
    else if (deleting) continue;
    else if (why !== undefined) unreadable.push({ gang, why });
    else waiting.push(gang);
    // A binding with clusters already uses its capacity, so suspending it has no purpose.
    if (isBegun && !deleting && given.standstill?.(binding.namespace) === undefined) begun.push(binding);
  }
  const done = dispatch({
    ...given,
    ...{ waiting, through, queues: queues.map(({ queue }) => queue), deficits: deficitsOf(queues) },
  });
  const last = unreadable.map(({ gang, why }): QueueStanding => ({ gang, why, position: 0 }));
  return { ...done, standings: [...done.standings, ...last], through, begun };
}
