import { own, ownList, ownObject, ownString, isObject, type Json, type JsonObject } from '../../json/json.ts';
import { FieldReader } from '../../k8s/field-reader.ts';
import type { Queue } from './queue-tree.ts';
import { overdueKey } from './deficit-round-robin.ts';
import { kubeTime } from '../../k8s/time.ts';
import { formatCount } from '../../k8s/quantity.ts';
import type { Dispatched } from './dispatch.ts';

/** A FleetQueue as read from the API server. */
export interface QueueRecord {
  /** Always empty, since a FleetQueue is cluster-scoped. */
  readonly namespace: '';
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly queue: Queue;
  /** The unreadable field; nothing is let through the queue then. */
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

/** Gangs that the queue has begun to let through, as `namespace/name@uid`: written before the first of them is released. */
export const releasingOf = ({ status }: QueueRecord): readonly string[] =>
  (ownList(status, 'releasing') ?? []).filter((one) => typeof one === 'string');

/** resourceVersions by the plural of the kind. */
export type Versions = Readonly<Record<string, string>>;

/**
 * Latest resourceVersions of bindings that were or are being let through the queue. A cache that is older misses some of
 * them or counts them as waiting, and would grant their capacity twice.
 */
export const letThroughOf = ({ status }: QueueRecord): Versions =>
  Object.fromEntries(
    Object.entries(ownObject(status, 'letThrough') ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

/** Whether a resourceVersion is older than another of the same API server. Versions that are no numbers have no order. */
export const isBefore = (one: string, other: string): boolean =>
  /^\d+$/.test(one) && /^\d+$/.test(other) && BigInt(one) < BigInt(other);

export const claimOf = ({ key, uid }: { readonly key: string; readonly uid: string }): string =>
  `${key}@${uid}`;

/** The deficits that are stored in the status of the queues. */
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

/** Fields of a queue's status besides those of {@link Dispatched}. */
export interface QueueCounts {
  /** Gangs of the queue itself, without child queues, that are let through and not finished. */
  readonly through: number;
  readonly waiting: number;
  readonly releasing: readonly string[];
  /** Value of {@link letThroughOf}. */
  readonly letThrough: Versions;
}

/** The new status of a queue; undefined when nothing changes. */
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

/**
 * Rounded to millionths of a Pod: the smallest weight gets a thousandth of each Pod, and smaller fractions would change the
 * status for ever.
 */
const rounded = (deficit = 0): number => Math.round(deficit * 1e6) / 1e6;

/** The stored fields in the order of `like`, since the API server sorts them. */
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
