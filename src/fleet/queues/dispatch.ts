import { quoted } from '../../text/printable.ts';
import type { Resources } from '../../k8s/field-reader.ts';
import {
  queueTree,
  isHopeless,
  QueueUsage,
  shortageText,
  type PlacedQueue,
  type Queue,
  type Shortage,
} from './queue-tree.ts';
import { DeficitRoundRobin, type Deficits } from './deficit-round-robin.ts';

/** A gang in a queue, with its total requests and its age (`since`: milliseconds since 1970). */
export interface QueuedGang {
  /** `namespace/name` of the gang's binding; `name` for a ClusterResourceBinding. */
  readonly key: string;
  readonly uid: string;
  readonly queue: string;
  readonly priority: number;
  readonly since: number;
  readonly pods: number;
  readonly requests: Resources;
}

export interface DispatchInput {
  readonly queues: Iterable<Queue>;
  /** Gangs that are suspended. */
  readonly waiting: readonly QueuedGang[];
  /** Gangs that were let through before and have not finished. */
  readonly through: readonly QueuedGang[];
  readonly deficits: Deficits;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Age in milliseconds from which on capacity is reserved for a gang that does not fit. */
  readonly reserveAfterMs: number;
  /** Gangs that are let through at once at most. */
  readonly most?: number;
}

/** Position of a waiting gang. */
export interface QueueStanding {
  readonly gang: QueuedGang;
  /** Position in the queue, from 1. */
  readonly position: number;
  readonly why: string;
}

export interface Dispatched {
  /** Gangs to let through, in this order. */
  readonly release: readonly QueuedGang[];
  /** All other gangs, by queue and position. */
  readonly standings: readonly QueueStanding[];
  readonly deficits: Deficits;
  readonly tree: ReadonlyMap<string, PlacedQueue>;
  /** Usage including the gangs that are let through now. */
  readonly room: QueueUsage;
  /** When the first waiting gang is old enough for a reservation (milliseconds since 1970); undefined: none. */
  readonly nextReservation: number | undefined;
}

/**
 * Decides which waiting gangs are let through now:
 * 1. Gangs of a queue are ordered by priority, then age.
 * 2. Between queues deficit round robin picks the next gang, by weight ({@link DeficitRoundRobin}).
 * 3. A gang that fits in its queue and all parents is let through and takes its capacity.
 * 4. A gang that does not fit is passed over. Once it has waited for `reserveAfterMs`, capacity is reserved for it in each
 *    queue up to the one that is short, and its queue comes before queues where no gang has waited as long.
 * 5. For a gang that could never fit, nothing is reserved.
 *
 * No queue exceeds its capacity, and the order of the input has no effect.
 */
export function dispatch(input: DispatchInput): Dispatched {
  const { waiting, through, deficits, now, reserveAfterMs, most = Infinity } = input;
  const tree = queueTree(input.queues);
  // Capacity in use; and capacity in use plus reserved.
  const [taken, claimed] = [new QueueUsage(), new QueueUsage()];
  for (const gang of through)
    for (const room of [taken, claimed]) room.take(tree.get(gang.queue)?.chain ?? [], gang.requests);
  const lanes = lanesOf(waiting);
  const isDue = ({ since }: QueuedGang): boolean => since + reserveAfterMs <= now;
  const turns = new DeficitRoundRobin(
    [...lanes].flatMap(([name, gangs]) => {
      const at = tree.get(name);
      if (at === undefined || at.closed !== undefined) return [];
      // Overdue turns extend to the last gang with a reservation: gangs before it in its queue stay before it.
      const keeps = (gang: QueuedGang) => isDue(gang) && hopelessIn(at.chain, gang) === undefined;
      const last = gangs.findLastIndex(keeps);
      return [{ at, waiting: gangs, pressing: last + 1 }];
    }),
    deficits,
  );
  const release: QueuedGang[] = [];
  const why = new Map<QueuedGang, string>();
  const keptIn = new Map<string, QueuedGang>();
  let nextReservation: number | undefined;
  for (let next = turns.next(); next !== undefined && release.length < most; next = turns.next()) {
    const gang = next.one;
    const chain = tree.get(gang.queue)?.chain ?? [];
    const short = claimed.shortage(chain, gang.requests);
    if (short === undefined) {
      next.letThrough(gang.pods);
      release.push(gang);
      claimed.take(chain, gang.requests);
      taken.take(chain, gang.requests);
      continue;
    }
    const really = taken.shortage(chain, gang.requests);
    const hopeless = hopelessIn(chain, gang);
    const due = gang.since + reserveAfterMs;
    const keeps = hopeless === undefined && isDue(gang);
    why.set(gang, whyOf(hopeless ?? really, short, keeps, keptIn));
    if (keeps) {
      next.kept();
      // Capacity is reserved only up to the queue that is short: in outer queues it would be useless until the inner one has
      // some.
      const inner = chain.slice(0, chain.indexOf(short.queue) + 1);
      claimed.take(inner, gang.requests);
      for (const { name } of inner) if (!keptIn.has(name)) keptIn.set(name, gang);
    } else if (hopeless === undefined) nextReservation = Math.min(nextReservation ?? due, due);
  }
  return {
    release,
    standings: standingsOf(lanes, new Set(release), (gang) => why.get(gang) ?? closedText(gang, tree)),
    deficits: turns.deficits,
    tree,
    room: taken,
    nextReservation,
  };
}

/** The shortage of the gang if it were alone, in the innermost queue with too little capacity. */
const hopelessIn = (chain: readonly Queue[], gang: QueuedGang): Shortage | undefined =>
  chain.map((queue) => alone(queue, gang)).find((one) => one !== undefined);

/** The shortage of the gang if it were alone in the queue. */
const alone = (queue: Queue, gang: QueuedGang): Shortage | undefined => {
  const short = new QueueUsage().shortage([queue], gang.requests);
  return short !== undefined && isHopeless(short) ? short : undefined;
};

function whyOf(
  really: Shortage | undefined,
  short: Shortage,
  keeps: boolean,
  keptIn: ReadonlyMap<string, QueuedGang>,
): string {
  const first = keptIn.get(short.queue.name);
  const text =
    really === undefined && first !== undefined
      ? `room in queue ${quoted(short.queue.name)} is kept for ${quoted(first.key)}, which waits for it`
      : shortageText(really ?? short);
  return keeps ? `${text}; room is kept for it` : text;
}

function closedText({ queue }: QueuedGang, tree: ReadonlyMap<string, PlacedQueue>): string {
  const at = tree.get(queue);
  if (at === undefined) return `there is no queue ${quoted(queue)}; create it, or name another one`;
  return at.closed?.message ?? 'its turn comes with the next ones';
}

/** Waiting gangs by queue, in their order. */
function lanesOf(waiting: readonly QueuedGang[]): ReadonlyMap<string, readonly QueuedGang[]> {
  const lanes = Map.groupBy(waiting, ({ queue }) => queue);
  for (const lane of lanes.values()) lane.sort(inOrder);
  return lanes;
}

/** By priority, then age, then uid, which no user can choose. */
const inOrder = (one: QueuedGang, other: QueuedGang): number =>
  other.priority - one.priority ||
  one.since - other.since ||
  (one.uid < other.uid ? -1 : one.uid > other.uid ? 1 : 0);

function standingsOf(
  lanes: ReadonlyMap<string, readonly QueuedGang[]>,
  released: ReadonlySet<QueuedGang>,
  why: (gang: QueuedGang) => string,
): QueueStanding[] {
  return [...lanes.keys()]
    .sort()
    .flatMap((name) =>
      (lanes.get(name) ?? [])
        .filter((gang) => !released.has(gang))
        .map((gang, index) => ({ gang, position: index + 1, why: why(gang) })),
    );
}
