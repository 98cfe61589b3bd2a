import type { JsonObject } from '../../json/json.ts';
import { quoted } from '../../text/printable.ts';
import { readQueuedBinding, type QueuedBinding } from '../../fleet/bindings/queued-binding.ts';
import { readQueue, type QueueRecord } from '../../fleet/queues/read-queue.ts';
import { FLEET_QUEUES } from '../../kube/client/resources.ts';
import { isConflict } from '../../kube/client/errors.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import { KeyedController, type ReconcileResult } from '../../kube/loop/keyed-controller.ts';
import { FleetQueueMetrics } from '../../telemetry/fleet-metrics.ts';
import { bindingTarget, watchBindings } from '../watch/binding-watches.ts';
import type { FleetControllerFactory } from '../watch/shared.ts';
import { Behind, letThrough } from './let-through.ts';
import { termsReader } from './read-terms.ts';

/** The key under which all queues are reconciled together; no object can have this name. */
const TURN = '*';
/** Delay (ms) that combines a burst of changes into one pass. */
const SOON_MS = 50;
/** Workloads of one namespace that are read concurrently. */
const AT_A_TIME = 4;
/** Delay (ms) before a workload that could not be read is tried again. */
const UNREAD_MS = 5_000;
/** Upper bound (ms) of the requeue before the next reservation, so that a clock set back does not postpone it for ever. */
const LONGEST_MS = 60_000;

/**
 * Releases gangs through the FleetQueues of a fleet. Admission suspends new bindings before their queue is known; this
 * controller reads the queue, and releases bindings that need none at once.
 */
export const fleetQueues: FleetControllerFactory = (shared) => {
  const { client, settings, log, metrics, now, recorder, room } = shared;
  const { queues: acting } = settings;
  if (acting === undefined) return undefined;
  const counts = new FleetQueueMetrics(metrics.registry);
  const bindings = watchBindings(shared, (object) => readQueuedBinding(object as unknown as JsonObject));
  const queues = new Reflector<QueueRecord>({
    client,
    resource: FLEET_QUEUES,
    trim: (object) => readQueue(object as unknown as JsonObject),
    observer: shared.observe(FLEET_QUEUES),
  });
  const soon = (): void => controller.addAfter(TURN, SOON_MS);
  const hear = (binding: QueuedBinding): void => {
    const { namespace, name, unread, deleting, held } = binding;
    if (unread && !deleting) controller.add(keyOf(namespace, name));
    const why = room.why(namespace);
    if (why !== undefined && held && controller.leads) tell(binding, 'Warning', 'NamespaceTooLarge', why);
  };
  bindings.subscribe(({ old, new: binding }) => {
    if (binding !== undefined) hear(binding);
    if (binding?.gang !== undefined || old?.gang !== undefined) soon();
  });
  bindings.onTurn((keys) => {
    for (const key of keys) {
      const binding = bindings.get(key);
      if (binding !== undefined) hear(binding);
    }
    soon();
  });
  queues.subscribe(soon);
  const tell = (
    { namespace, name, uid }: QueuedBinding,
    type: 'Normal' | 'Warning',
    reason: string,
    note: string,
  ): void => {
    const { resource } = bindingTarget({ namespace, name });
    recorder.event({ resource, namespace, name, uid }, { type, reason, note });
  };

  const readTerms = termsReader(client, acting.kinds);
  const oneBinding = async (key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> => {
    const binding = bindings.get(key);
    if (binding?.unread !== true) return undefined;
    const read = await readTerms(bindingTarget(binding), signal);
    if (read === undefined) return undefined;
    if (read === 'none') {
      log.debug({ binding: key }, 'a binding needs no queue');
      return undefined;
    }
    if ('unread' in read) {
      tell(binding, 'Warning', 'WorkloadUnread', `held, as its queue is not known: ${read.unread}`);
      return { requeueAfterMs: UNREAD_MS };
    }
    log.info({ binding: key, queue: read.queue, workload: binding.workload }, 'a binding waits in its queue');
    tell(binding, 'Normal', 'Queued', `waits in queue ${quoted(read.queue)}`);
    return undefined;
  };

  const oneTurn = async (signal: AbortSignal): Promise<ReconcileResult | undefined> => {
    try {
      const view = await letThrough({
        ...{ client, signal, now: now(), reserveAfterMs: acting.reserveAfterMs },
        ...{ bindings: bindings.all(), queues: [...queues.store.values()] },
        standstill: (namespace) => room.why(namespace),
        hasSeen: bindings.hasSeen,
        released: (binding, { key, queue }) => {
          counts.released();
          log.info({ binding: key, queue, workload: binding.workload }, 'a queue lets a binding through');
          tell(binding, 'Normal', 'LetThrough', `queue ${quoted(queue)} lets it through`);
        },
      });
      counts.counted(view.standings.length, view.through.length + view.release.length);
      const { nextReservation: next } = view;
      if (next === undefined) return undefined;
      return { requeueAfterMs: Math.min(LONGEST_MS, Math.max(SOON_MS, next - now().getTime())) };
    } catch (error) {
      if (error instanceof Behind) return { requeueAfterMs: SOON_MS };
      throw error;
    }
  };

  const controller = new KeyedController({
    name: 'fleet-queues',
    watches: [...bindings.watches, queues],
    concurrency: AT_A_TIME,
    begin: () => {
      for (const binding of bindings.all()) hear(binding);
      return {
        reconcile: (key, over) => (key === TURN ? oneTurn(over) : oneBinding(key, over)),
        keys: [TURN],
      };
    },
    failed: (key, error, retryInMs) => {
      // The binding was changed since it was read, and is reconciled again.
      const level = isConflict(error) ? 'debug' : 'error';
      log[level]({ binding: key, err: error, retryInMs }, 'a queue could not go on, trying again');
    },
  });
  return controller;
};
