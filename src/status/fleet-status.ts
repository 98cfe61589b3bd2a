import { parseGoDuration } from '../k8s/time.ts';
import { formatCount } from '../k8s/quantity.ts';
import { MusterError } from '../errors.ts';
import { readQueuedBinding, type QueuedBinding } from '../fleet/bindings/queued-binding.ts';
import { viewQueues } from '../fleet/bindings/queue-view.ts';
import { readQueue, type QueueRecord } from '../fleet/queues/read-queue.ts';
import type { Resources } from '../k8s/field-reader.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { ApiError, isForbidden, isNotFound } from '../kube/client/errors.ts';
import { CLUSTER_RESOURCE_BINDINGS, FLEET_QUEUES, RESOURCE_BINDINGS } from '../kube/client/resources.ts';
import { listAll } from '../kube/loop/list-pages.ts';

/** A FleetQueue, as `-o json` prints it. */
export interface QueueStatus {
  readonly name: string;
  readonly parent: string;
  readonly weight: number;
  readonly hold: boolean;
  /** Why the queue releases nothing; null where it releases bindings. */
  readonly closed: string | null;
  readonly capacity: Readonly<Record<string, string>>;
  readonly used: Readonly<Record<string, string>>;
  readonly waiting: number;
  readonly through: number;
}

/** A held binding, as `-o json` prints it. */
interface HeldStatus {
  /** Empty for a ClusterResourceBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly workload: string;
  /** null until the loop has read the queue's name. */
  readonly queue: string | null;
  /** Position in its queue, from 1; 0 where it has none. */
  readonly position: number;
  readonly priority: number;
  /** Time since which the binding waits; null where it is not known. */
  readonly since: string | null;
  readonly why: string;
}

export interface FleetStatus {
  readonly queues: readonly QueueStatus[];
  readonly waiting: readonly HeldStatus[];
}

/**
 * Reads the queues and bindings of a fleet, and evaluates them as the loop does.
 * @param reserveAfter a duration of the configuration
 */
export async function fleetStatus(client: KubeClient, now: Date, reserveAfter: string): Promise<FleetStatus> {
  try {
    const [queues, ...bindings] = await Promise.all([
      listAll({ client, resource: FLEET_QUEUES }, readQueue),
      listAll({ client, resource: RESOURCE_BINDINGS }, readQueuedBinding),
      listAll({ client, resource: CLUSTER_RESOURCE_BINDINGS }, readQueuedBinding),
    ]);
    return judged(queues, bindings.flat(), now.getTime(), parseGoDuration(reserveAfter) ?? 0);
  } catch (error) {
    throw refused(error);
  }
}

function judged(
  queues: readonly QueueRecord[],
  bindings: readonly QueuedBinding[],
  now: number,
  reserveAfterMs: number,
): FleetStatus {
  const { standings, through, release, tree, room } = viewQueues(bindings, queues, { now, reserveAfterMs });
  const byKey = new Map(bindings.flatMap((one) => (one.gang === undefined ? [] : [[one.gang.uid, one]])));
  // Bindings that the loop is about to release; where no loop runs, they stay here.
  const next = release.map((gang) => ({
    gang,
    position: 0,
    why: 'its turn has come: Muster lets it through now',
  }));
  const waiting = [...next, ...standings].map(({ gang, position, why }): HeldStatus => {
    const { namespace = '', name = '', workload = '' } = byKey.get(gang.uid) ?? {};
    const since = gang.since > 0 ? new Date(gang.since).toISOString() : null;
    return { namespace, name, workload, queue: gang.queue, position, priority: gang.priority, since, why };
  });
  const unread = bindings
    .filter(({ unread: isUnread, held, deleting }) => isUnread && held && !deleting)
    .map(({ namespace, name, workload }) => ({
      ...{ namespace, name, workload, queue: null, position: 0, priority: 0, since: null },
      why: 'what its workload and its policy say is not read yet; its Events say why',
    }));
  return {
    queues: queues
      .map(({ name, queue, fault }) => ({
        ...{ name, parent: queue.parent, weight: queue.weight, hold: queue.hold && fault === undefined },
        closed: fault ?? tree.get(name)?.closed?.message ?? null,
        capacity: amountTexts(queue.capacity),
        used: amountTexts(room.used(name)),
        waiting: waiting.filter((one) => one.queue === name).length,
        through: through.filter((gang) => gang.queue === name).length,
      }))
      .sort((one, other) => (one.name < other.name ? -1 : 1)),
    waiting: [...waiting, ...unread],
  };
}

export const amountTexts = (counts: Resources): Record<string, string> =>
  Object.fromEntries(
    [...counts]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([resource, amount]) => [resource, formatCount(resource, amount)]),
  );

/** The error for a 403 of a user without the right to read, with the way out; any other error unchanged. */
function refused(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (isNotFound(error)) {
    return new MusterError(
      'CLUSTER_REFUSED',
      `${error.message} (it knows no FleetQueue, or no bindings of Karmada)`,
      'Name Karmada’s API server with --kubeconfig, and apply manifests/karmada/queues there.',
      { cause: error },
    );
  }
  if (!isForbidden(error)) return error;
  const fix =
    'It takes the rights to list fleetqueues.muster.dev, resourcebindings.work.karmada.io and clusterresourcebindings.work.karmada.io.';
  return new MusterError('CLUSTER_REFUSED', error.message, fix, { cause: error });
}
