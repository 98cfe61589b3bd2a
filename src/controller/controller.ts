import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { ANNOTATION_SCHEDULER_NAME, LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { BackendRegistry } from '../backends/registry.ts';
import type { Placement } from '../backends/select.ts';
import type { GangSelectors } from '../gang/gang-selection.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isForbidden, isNotFound } from '../kube/client/errors.ts';
import { NAMESPACES, POD_GANGS, PODS, type Resource } from '../kube/client/resources.ts';
import type { Logger } from '../telemetry/log.ts';
import type { LoopMetrics } from '../telemetry/loop-metrics.ts';
import { gangWriter, Outdated } from './gangs/actions.ts';
import { BackendControllers, type BackendObserver } from './scheduler-objects/backend-controllers.ts';
import { EventRecorder } from '../kube/loop/event-recorder.ts';
import { watchGangs } from './watch/gang-watch.ts';
import { LeaseElection } from '../kube/loop/lease.ts';
import { countingObserver, measured } from './gangs/measured.ts';
import { podGangReconciler } from './gangs/reconcile-pod-gang.ts';
import { backendOf } from './gangs/reconcile-state.ts';
import type { ReflectorObserver } from '../kube/loop/reflector-options.ts';
import { startWorkers } from '../kube/loop/work-queue-workers.ts';
import { WorkQueue } from '../kube/loop/work-queue.ts';

/** The part of the configuration that the loop reads; durations in milliseconds. */
export interface ControllerSettings {
  readonly concurrentSyncs: number;
  readonly selectors: GangSelectors;
  readonly leaderElection: {
    readonly enabled: boolean;
    readonly leaseDurationMs: number;
    readonly renewDeadlineMs: number;
    readonly retryPeriodMs: number;
    readonly resourceName: string;
    readonly resourceNamespace: string;
  };
}

export interface ControllerOptions {
  readonly client: KubeClient;
  readonly registry: BackendRegistry;
  readonly settings: ControllerSettings;
  readonly log: Logger;
  readonly metrics: LoopMetrics;
  readonly now: () => Date;
  /** Where Muster itself runs. */
  readonly ownNamespace: string;
  readonly backendObserver?: BackendObserver;
}

/** The loop: it watches on every replica and writes on the one that leads. */
export interface Controller {
  /** For readiness: undefined once the caches are there, else what is missing. */
  check(): string | undefined;
  /** What the watches know of where Pods and gangs stand, for admission. */
  readonly placement: Placement;
  /** Ends the work under way, gives the Lease up, closes the client. */
  stop(): Promise<void>;
}

/** Failures in a row of one gang from which on they are worth a line in the log. */
const TELL_AFTER_MS = 1_000;

export function startController(options: ControllerOptions): Controller {
  const { client, registry, settings, log, metrics, now, ownNamespace } = options;
  const identity = `${hostname()}_${randomBytes(4).toString('hex')}`;
  // Only a leader has a queue. Each term begins with a new one and a look at everything.
  let queue: WorkQueue | undefined;
  const busy = (): boolean => queue?.busy === true;
  const recorder = new EventRecorder({ client, controller: 'muster', instance: identity, busy });
  const watch = watchGangs(
    client,
    (key) => queue?.add(key),
    (resource) => observerFor(resource, log, metrics),
  );
  metrics.queueFrom(() => queue);
  metrics.cachedFrom(() => [
    [PODS.plural, watch.view.pods.size],
    [POD_GANGS.plural, watch.view.gangs.size],
    [NAMESPACES.plural, watch.view.namespaces.size],
  ]);

  const { selectors, concurrentSyncs } = settings;
  const backends = new BackendControllers({
    client,
    registry,
    view: watch.view,
    backendOf: (gang) => backendOf(gang, { view: watch.view, registry, selectors }),
    recorder,
    log,
    now,
    concurrentSyncs,
    ownNamespace,
    ...(options.backendObserver && { observer: options.backendObserver }),
    observe: (resource) => observerFor(resource, log, metrics),
    look: (key) => queue?.add(key),
  });
  watch.onGang((change) => backends.gangChanged(change));
  let looked = false;
  const looking = backends.start().then(() => (looked = true));

  const lead = async (signal: AbortSignal): Promise<void> => {
    const over = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    // What a backend has to say of its gangs it knows only once it has looked.
    await Promise.race([over, Promise.all([looking, watch.whenSynced().catch(() => undefined)])]);
    if (signal.aborted) return;
    metrics.leads(true);
    const term = new WorkQueue({ observer: { retried: () => metrics.retried() } });
    const reconcile = podGangReconciler({
      view: watch.view,
      synced: () => watch.hasSynced,
      registry,
      selectors,
      backends,
      writer: (end) => gangWriter(client, end),
      recorder,
      now: () => now().getTime(),
      observer: countingObserver(metrics),
    });
    queue = term;
    for (const key of watch.keys()) term.add(key);
    const workers = startWorkers({
      queue: term,
      reconcile: measured(reconcile, metrics),
      concurrency: concurrentSyncs,
      failed: (gang, error, retryInMs) => {
        const quiet = error instanceof Outdated && (retryInMs ?? 0) < TELL_AFTER_MS;
        log[quiet ? 'debug' : 'error']({ gang, err: error, retryInMs }, 'gang not dealt with, trying again');
      },
    });
    const end = async (): Promise<void> => {
      await over;
      queue = undefined;
      await workers.stop();
    };
    await Promise.all([backends.lead(signal), end()]);
    metrics.leads(false);
  };

  const election = electionOf(settings, { client, identity, lead, log });
  watch.start();
  election.start();
  const { gangs, namespaces } = watch.view;
  return {
    placement: {
      ofGang: (namespace, gang) => gangs.get(namespace, gang)?.labels.get(LABEL_SCHEDULER_NAME),
      ofNamespace: (namespace) => namespaces.get('', namespace)?.annotations.get(ANNOTATION_SCHEDULER_NAME),
    },
    check: () => {
      if (!watch.hasSynced) return `waiting for the first list of ${watch.missing.join(' and ')}`;
      return looked ? undefined : 'waiting for the backends to look at the cluster';
    },
    stop: async () => {
      await election.stop();
      await backends.stop();
      await looking;
      await recorder.stop();
      await watch.stop();
      await client.close();
      log.info('the loop has ended');
    },
  };
}

function electionOf(
  { leaderElection }: ControllerSettings,
  given: {
    client: KubeClient;
    identity: string;
    lead: (signal: AbortSignal) => Promise<void>;
    log: Logger;
  },
): { start(): void; stop(): Promise<void> } {
  const { client, identity, lead, log } = given;
  if (!leaderElection.enabled) {
    const ending = new AbortController();
    let running: Promise<void> | undefined;
    return {
      start: () => {
        running ??= lead(ending.signal);
      },
      stop: async () => {
        ending.abort(new Error('the controller is stopping'));
        await running;
      },
    };
  }
  const { resourceName: name, resourceNamespace: namespace, ...times } = leaderElection;
  return new LeaseElection({
    client,
    namespace,
    name,
    identity,
    leaseDurationMs: times.leaseDurationMs,
    renewDeadlineMs: times.renewDeadlineMs,
    retryPeriodMs: times.retryPeriodMs,
    lead,
    observer: {
      leading: (leads, why) =>
        log.info({ leads, identity }, `the loop ${leads ? 'runs' : 'rests'} here: ${why}`),
      holder: (holder) => log.info({ holder }, 'the Lease changed hands'),
      failed: (error) => log.error({ err: error }, 'leader election'),
    },
  });
}

/** A restarted API server is no news; a missing right or definition is, as it stays until somebody mends it. */
function observerFor(resource: Resource, log: Logger, metrics: LoopMetrics): ReflectorObserver {
  const what = resource.plural;
  metrics.watches(what);
  return {
    listed: (count, ms) => {
      metrics.listed(what);
      log.info({ what, count, ms: Math.round(ms) }, 'listed');
    },
    failed: (error, retryInMs) => {
      metrics.watchFailed(what);
      const lasting = isForbidden(error) || isNotFound(error);
      log[lasting ? 'error' : 'info'](
        { what, err: error, retryInMs: Math.round(retryInMs) },
        'watch failed, trying again',
      );
    },
    handlerFailed: (error) => log.error({ what, err: error }, 'an object could not be dealt with'),
  };
}
