import type { QueuedBinding } from '../../fleet/bindings/queued-binding.ts';
import { viewQueues, type QueueView, type PlacementHalt } from '../../fleet/bindings/queue-view.ts';
import type { QueuedGang } from '../../fleet/queues/dispatch.ts';
import {
  statusOf,
  claimOf,
  isBefore,
  letThroughOf,
  releasingOf,
  type QueueRecord,
  type Versions,
} from '../../fleet/queues/read-queue.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isConflict, isInvalid, isNotFound } from '../../kube/client/errors.ts';
import { FLEET_QUEUES } from '../../kube/client/resources.ts';
import { bindingTarget } from '../watch/binding-watches.ts';

/** The most gangs released in one pass: all of them are recorded in one status before the first is released. */
const MOST_AT_ONCE = 100;

export interface LetThroughOptions {
  readonly client: KubeClient;
  readonly bindings: readonly QueuedBinding[];
  readonly queues: readonly QueueRecord[];
  readonly reserveAfterMs: number;
  readonly now: Date;
  readonly standstill: PlacementHalt;
  /** Whether `bindings` reflects these resourceVersions. */
  readonly hasSeen: (versions: Versions) => boolean;
  readonly signal: AbortSignal;
  /** Called for each binding that was released. */
  readonly released: (binding: QueuedBinding, gang: QueuedGang) => void;
}

/** Thrown when the cached state is outdated; the caller decides again once the watches have caught up. */
export class Behind extends Error {}

/**
 * Releases the bindings whose turn it is. Their names are first written to the status of the root FleetQueue, on
 * condition that the status has not changed since it was read; then the bindings are resumed. So a new leader knows
 * which bindings a crashed leader was releasing, two concurrent leaders cannot give away the same capacity, and no
 * binding is released twice. The status also records the newest resourceVersion of these bindings, and keeps it after
 * their release was seen: a leader whose watch has not reached it waits.
 */
export async function letThrough(given: LetThroughOptions): Promise<QueueView> {
  const { client, queues, signal, now, released } = given;
  if (!queues.every((record) => given.hasSeen(letThroughOf(record))))
    throw new Behind('bindings that were let through have not been seen yet');
  const view = viewQueues(given.bindings, queues, {
    now: now.getTime(),
    reserveAfterMs: given.reserveAfterMs,
    most: MOST_AT_ONCE,
    standstill: given.standstill,
  });
  const held = new Map(
    given.bindings.flatMap((one) => (one.gang !== undefined && one.held ? [[claimOf(one.gang), one]] : [])),
  );
  const rootOf = (gang: QueuedGang): string => view.tree.get(gang.queue)?.chain.at(-1)?.name ?? '';
  const fresh = Map.groupBy(view.release, rootOf);
  const writes = queues.flatMap((record) => {
    const { name } = record;
    const claims = releasingOf(record).filter((claim) => held.has(claim));
    const gone = releasingOf(record).filter((claim) => !held.has(claim));
    const going = (fresh.get(name) ?? []).map(claimOf);
    const count = (list: readonly QueuedGang[]): number => list.filter(({ queue }) => queue === name).length;
    const status = statusOf(
      record,
      view,
      {
        waiting: view.standings.filter(({ gang }) => gang.queue === name).length,
        through: count(view.through) + count(view.release),
        releasing: [...claims, ...going],
        letThrough: newest(letThroughOf(record), new Set([...gone, ...going]), given.bindings),
      },
      now,
    );
    return status === undefined ? [] : [{ record, status, claims: going.length > 0 }];
  });
  const write = async ({ record, status }: (typeof writes)[number]): Promise<void> => {
    const target = { resource: FLEET_QUEUES, name: record.name, subresource: 'status' };
    await unlessBehind(
      client.jsonPatch(
        target,
        [
          { op: 'test', path: '/metadata/resourceVersion', value: record.resourceVersion },
          { op: 'add', path: '/status', value: status },
        ],
        { signal, answer: 'nothing' },
      ),
    );
  };
  for (const one of writes) if (one.claims) await write(one);
  for (const binding of [...view.begun, ...view.release.flatMap((gang) => held.get(claimOf(gang)) ?? [])]) {
    const { resourceVersion, gang } = binding;
    // A merge patch keeps the other fields of `suspension`.
    const patch = { metadata: { resourceVersion }, spec: { suspension: { scheduling: false } } };
    await unlessBehind(client.mergePatch(bindingTarget(binding), patch, { signal, answer: 'nothing' }));
    if (gang !== undefined) released(binding, gang);
  }
  for (const one of writes) if (!one.claims) await write(one);
  return view;
}

/**
 * @param claims of bindings that are about to be released, which a new leader has to know, and of bindings seen as
 *   released
 */
function newest(before: Versions, claims: ReadonlySet<string>, bindings: readonly QueuedBinding[]): Versions {
  const versions = { ...before };
  if (claims.size === 0) return versions;
  for (const binding of bindings) {
    const { gang, resourceVersion } = binding;
    if (gang === undefined || !claims.has(claimOf(gang))) continue;
    const { plural } = bindingTarget(binding).resource;
    const known = versions[plural];
    if (known === undefined || isBefore(known, resourceVersion)) versions[plural] = resourceVersion;
  }
  return versions;
}

async function unlessBehind(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (isConflict(error) || isInvalid(error) || isNotFound(error))
      throw new Behind('the API server has it otherwise by now', { cause: error });
    throw error;
  }
}
