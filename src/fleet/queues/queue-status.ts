import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { kubeTime } from '../../k8s/time.ts';
import { formatCount } from '../../k8s/quantity.ts';
import type { Dispatched } from './dispatch.ts';
import type { QueueRecord, Versions } from './read-queue.ts';
import { overdueKey } from './turns.ts';

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
