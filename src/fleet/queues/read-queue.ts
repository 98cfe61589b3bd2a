import { own, ownList, ownObject, ownString, isObject, type Json, type JsonObject } from '../../json/json.ts';
import { FieldReader } from '../../k8s/field-reader.ts';
import type { Queue } from './queue-tree.ts';
import { overdueKey } from './deficit-round-robin.ts';
import { kubeTime } from '../../k8s/time.ts';
import { formatCount } from '../../k8s/quantity.ts';
import type { Dispatched } from './dispatch.ts';

/** A FleetQueue as the API server has it, trimmed. */
export interface QueueRecord {
  /** Always empty: a FleetQueue is of the whole fleet. */
  readonly namespace: '';
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly queue: Queue;
  /** What of it cannot be read; then nothing is let through it. */
  readonly fault: string | undefined;
  readonly status: JsonObject | undefined;
}

export function readQueue(object: JsonObject): QueueRecord {
  const metadata = ownObject(object, 'metadata');
  const spec = own(object, 'spec');
  const name = ownString(metadata, 'name') ?? '';
  const reading = new FieldReader(`FleetQueue ${name}`);
  const capacity = reading.resources(own(spec, 'capacity'), 'spec.capacity');
  const [fault] = reading.faults;
  const generation = own(metadata, 'generation');
  return {
    namespace: '',
    name,
    uid: ownString(metadata, 'uid') ?? '',
    resourceVersion: ownString(metadata, 'resourceVersion') ?? '',
    generation: typeof generation === 'number' ? generation : 0,
    queue: {
      name,
      weight: Math.max(1, numberOf(own(spec, 'weight'), 1)),
      parent: ownString(spec, 'parent') ?? '',
      capacity,
      hold: own(spec, 'hold') === true || fault !== undefined,
    },
    fault: fault && `${fault.field}: ${fault.message}`,
    status: ownObject(object, 'status'),
  };
}

/** Whom the queue has begun to let through, as `namespace/name@uid`: written before any of them is let go. */
export const releasingOf = ({ status }: QueueRecord): readonly string[] =>
  (ownList(status, 'releasing') ?? []).filter((one) => typeof one === 'string');

/** resourceVersions, by the plural of the kind. */
export type Versions = Readonly<Record<string, string>>;

/**
 * The latest of bindings that were let through the queue, or are about to be: who has not seen them knows nothing of some, or
 * counts them as waiting still, and would give their room away once more.
 */
export const letThroughOf = ({ status }: QueueRecord): Versions =>
  Object.fromEntries(
    Object.entries(ownObject(status, 'letThrough') ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

/** Whether a resourceVersion is before another of the same API server. Those that are no numbers have no order. */
export const isBefore = (one: string, other: string): boolean =>
  /^\d+$/.test(one) && /^\d+$/.test(other) && BigInt(one) < BigInt(other);

export const claimOf = ({ key, uid }: { readonly key: string; readonly uid: string }): string =>
  `${key}@${uid}`;

/** What fairness has remembered in the status of the queues. */
export const deficitsOf = (records: Iterable<QueueRecord>): Map<string, number> =>
  new Map(
    Array.from(records).flatMap(({ name, status }) => [
      [name, numberOf(own(status, 'deficit'), 0)],
      [`${name}/`, numberOf(own(status, 'ownDeficit'), 0)],
      [overdueKey(name), numberOf(own(status, 'overdueDeficit'), 0)],
      [overdueKey(`${name}/`), numberOf(own(status, 'ownOverdueDeficit'), 0)],
    ]),
  );

const numberOf = (value: Json | undefined, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;

/** What the status of a queue says beside what {@link Dispatched} knows. */
export interface QueueCounts {
  /** Gangs of the queue itself that are let through and not finished. */
  readonly through: number;
  readonly waiting: number;
  readonly releasing: readonly string[];
  /** See `letThroughOf`. */
  readonly letThrough: Versions;
}

/** The status of a queue as it is to be; undefined where it says so already. */
export function statusOf(
  record: QueueRecord,
  { room, deficits, tree }: Pick<Dispatched, 'room' | 'deficits' | 'tree'>,
  { through, waiting, releasing, letThrough }: QueueCounts,
  now: Date,
): JsonObject | undefined {
  const { name, generation } = record;
  const used = [...room.used(name)].sort(([one], [other]) => (one < other ? -1 : 1));
  const status: JsonObject = {
    observedGeneration: generation,
    waiting,
    through,
    used: Object.fromEntries(used.map(([resource, count]) => [resource, formatCount(resource, count)])),
    releasing: [...releasing],
    ...(Object.keys(letThrough).length > 0 && { letThrough: sortedByKey(letThrough) }),
    deficit: rounded(deficits.get(name)),
    ownDeficit: rounded(deficits.get(`${name}/`)),
    overdueDeficit: rounded(deficits.get(overdueKey(name))),
    ownOverdueDeficit: rounded(deficits.get(overdueKey(`${name}/`))),
    conditions: [readyCondition(record, tree.get(name)?.closed, now)],
  };
  return JSON.stringify(status) === JSON.stringify(inOrder(record.status, status)) ? undefined : status;
}

const sortedByKey = <T>(map: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).sort(([one], [other]) => (one < other ? -1 : 1)));

/** Millionths of a Pod, as the least weight gets a thousandth of each: what is below that would never come to rest. */
const rounded = (deficit = 0): number => Math.round(deficit * 1e6) / 1e6;

/** The same fields in the same order, as far as they are there: the API server sorts them. */
const inOrder = (found: JsonObject | undefined, like: JsonObject): Json =>
  Object.fromEntries(
    Object.entries(like).map(([key, value]) => {
      const there = own(found, key);
      const sorted =
        key === 'conditions' && Array.isArray(there)
          ? (there as readonly JsonObject[]).map((one) => inOrder(one, (value as JsonObject[])[0] ?? {}))
          : (key === 'used' || key === 'letThrough') && isObject(there)
            ? sortedByKey(there)
            : there;
      return [key, sorted ?? null];
    }),
  );

function readyCondition(
  { fault, status: before }: QueueRecord,
  closed: { readonly reason: string; readonly message: string } | undefined,
  now: Date,
): JsonObject {
  const why = fault === undefined ? closed : { reason: 'Invalid', message: fault };
  const status = why === undefined ? 'True' : 'False';
  const known = ownList(before, 'conditions')?.find((one) => ownString(one, 'type') === 'Ready');
  const since = ownString(known, 'status') === status ? ownString(known, 'lastTransitionTime') : undefined;
  return {
    type: 'Ready',
    status,
    reason: why?.reason ?? 'Open',
    message: why?.message ?? 'gangs are let through in their turn',
    lastTransitionTime: since ?? kubeTime(now.getTime()),
  };
}
