import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { FieldReader } from '../../k8s/field-reader.ts';
import type { Queue } from './queue-tree.ts';
import { overdueKey } from './turns.ts';

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
