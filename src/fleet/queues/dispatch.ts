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

/** A gang in a queue: what it asks for in all, and since when (ms since 1970). */
export interface QueuedGang {
  /** `namespace/name` of its binding, or `name`. */
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
  /** Held back. */
  readonly waiting: readonly QueuedGang[];
  /** Let through before, and not finished. */
  readonly through: readonly QueuedGang[];
  readonly deficits: Deficits;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** From this age on (ms) room is kept for a gang that is too large for what is free. */
  readonly reserveAfterMs: number;
  /** No more than so many are let through at once. */
  readonly most?: number;
}

/** Where a gang that waits stands. */
export interface QueueStanding {
  readonly gang: QueuedGang;
  /** In its queue, from 1 on. */
  readonly position: number;
  readonly why: string;
}

export interface Dispatched {
  /** Who is let through, in this order. */
  readonly release: readonly QueuedGang[];
  /** The others, by queue and position. */
  readonly standings: readonly QueueStanding[];
  readonly deficits: Deficits;
  readonly tree: ReadonlyMap<string, PlacedQueue>;
  /** With those that are let through now. */
  readonly room: QueueUsage;
  /** When the first of those who wait is old enough for room to be kept for it (ms since 1970); undefined: none. */
  readonly nextReservation: number | undefined;
}

/**
 * Decides which waiting gangs are let through now:
 * 1. Within a queue gangs are ordered by priority, then age.
 * 2. Between queues deficit round robin picks the next gang, by weight ({@link DeficitRoundRobin}).
 * 3. A gang that fits in its queue and all parents is let through and takes its capacity.
 * 4. One that does not fit is passed over, until it has waited for `reserveAfterMs`: then capacity is reserved for it in each
 *    queue up to the one that is short, and its queue comes before those where no gang has waited as long.
 * 5. One that could never fit reserves nothing.
 *
 * No queue exceeds its capacity, and the order of the input decides nothing.
 */
export function dispatch(input: DispatchInput): Dispatched {
  const { waiting, through, deficits, now, reserveAfterMs, most = Infinity } = input;
  const tree = queueTree(input.queues);
  // What is taken; and the same with what is kept for somebody.
  const [taken, claimed] = [new QueueUsage(), new QueueUsage()];
  for (const gang of through)
    for (const room of [taken, claimed]) room.take(tree.get(gang.queue)?.chain ?? [], gang.requests);
  const lanes = lanesOf(waiting);
  const isDue = ({ since }: QueuedGang): boolean => since + reserveAfterMs <= now;
  const turns = new DeficitRoundRobin(
    [...lanes].flatMap(([name, gangs]) => {
      const at = tree.get(name);
      if (at === undefined || at.closed !== undefined) return [];
      // Up to the last one for whom room is kept: who stands before it in its own queue stays before it.
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
      // Room further out than where it lacks is no use to it before there is some here.
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

/** What it lacks even when nothing else is there, in the innermost queue that has too little. */
const hopelessIn = (chain: readonly Queue[], gang: QueuedGang): Shortage | undefined =>
  chain.map((queue) => alone(queue, gang)).find((one) => one !== undefined);

/** What it lacks in a queue where nothing else is. */
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

/** By queue, in the order of their turn. */
function lanesOf(waiting: readonly QueuedGang[]): ReadonlyMap<string, readonly QueuedGang[]> {
  const lanes = Map.groupBy(waiting, ({ queue }) => queue);
  for (const lane of lanes.values()) lane.sort(inOrder);
  return lanes;
}

/** Priority, then age; of those that are equal in both the uid decides, which nobody chooses. */
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
