import type { Backend } from '../../backends/backend.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { BackendState, GangRecord } from '../../gang/records.ts';
import { isMarkedScheduled } from '../../gang/plan/conditions.ts';
import { backendWants } from '../../gang/plan/predicates.ts';
import { clusterProbe } from '../../kube/client/cluster-probe.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { keyOf, splitKey, type Change } from '../../kube/loop/cache.ts';
import { aborted } from '../../kube/loop/deadline.ts';
import type { Controller } from '../../kube/loop/manager.ts';
import { backendOf } from '../watch/backend-of.ts';
import type { BackendsView, ControllerFactory, Shared } from '../watch/shared.ts';
import { startWorkers } from '../../kube/loop/work-queue-workers.ts';
import type { Watches } from '../../kube/loop/watches.ts';
import { WorkQueue } from '../../kube/loop/work-queue.ts';
import { syncClusterObjects } from './cluster-objects.ts';
import { ProbeLoop } from './probe-loop.ts';
import { OwnedObjects } from './owned-objects.ts';
import { BackendPublisher } from './publish.ts';
import { backendReconciler } from './reconcile-backend.ts';
import { digestOf, SyncMemory } from './sync-memory.ts';

/** What runs only while this replica leads. */
interface Term {
  readonly queues: ReadonlyMap<string, WorkQueue>;
  readonly publisher: BackendPublisher;
  readonly signal: AbortSignal;
}

/**
 * The backends at work. On every replica they look at the cluster, since admission goes by what they find, and their
 * objects are watched; on the one that leads they keep their objects. Each has a queue of its own, so that one that
 * hangs keeps nobody else's gangs.
 */
export class SchedulerObjects implements Controller, BackendsView {
  readonly name = 'scheduler-objects';
  readonly watches: Watches;
  readonly #shared: Shared;
  readonly #memory = new SyncMemory();
  readonly #owned: OwnedObjects;
  readonly #probes: ProbeLoop;
  readonly #gone = new Map<string, Map<string, GangRecord>>();
  #probed = false;
  #term: Term | undefined;

  constructor(shared: Shared) {
    this.#shared = shared;
    const { client, registry, ownNamespace, observe, watch } = shared;
    this.watches = watch.watches;
    for (const name of registry.enabled) this.#gone.set(name, new Map());
    this.#owned = new OwnedObjects(client, observe, {
      changed: (key) => {
        this.#memory.forget(key);
        this.#enqueue(key);
      },
      said: (key) => watch.touch(key),
    });
    this.#probes = new ProbeLoop({
      registry,
      cluster: (signal) => clusterProbe(client, ownNamespace, { signal }),
      probed: (name, now, before, seconds) => this.#learnt(name, now, before, seconds),
    });
    watch.onGang((change) => this.#gangChanged(change));
    shared.backends.tell(this);
  }

  /** Resolves once every backend has probed the cluster. */
  async start(): Promise<void> {
    await this.#probes.start();
    this.#probed = true;
  }

  check(): string | undefined {
    return this.#probed ? undefined : 'waiting for the backends to look at the cluster';
  }

  async stop(): Promise<void> {
    await this.#probes.stop();
    await this.#owned.stop();
  }

  /** The backend of a gang as the judgement sees it. */
  stateOf(gang: GangRecord, backend: Backend): BackendState {
    const readiness = this.#shared.registry.readiness(backend.name);
    const releaseOrder = backend.releaseOrder?.(gang) ?? 'all-at-once';
    const common = { name: backend.name, schedulerName: backend.schedulerName, releaseOrder };
    if (readiness.state !== 'ready') {
      const reason = readiness.state === 'failed' ? readiness.reason : 'it has not looked at the cluster yet';
      return { ...common, ready: false, reason, objectsExist: false };
    }
    const synced = this.#memory.of(keyOf(gang.namespace, gang.name), gang, backend.name);
    const objects = this.#shared.registry
      .owned(backend.name)
      .flatMap((kind) => this.#owned.of(kind, gang.namespace, gang.name) ?? []);
    return {
      ...common,
      ready: true,
      objectsExist: synced.done,
      ...(!synced.done && synced.failure !== undefined && { objectsWait: synced.failure }),
      says: objects.length === 0 ? undefined : backend.explain?.(objects),
    };
  }

  #gangChanged(change: Change<GangRecord>): void {
    const { old, new: now } = change;
    if (old !== undefined && old.uid !== now?.uid) this.#left(old);
    if (now === undefined) return;
    const event =
      old?.uid === now.uid
        ? ({ type: 'update', before: old, after: now } as const)
        : ({ type: 'create', object: now } as const);
    // Labels and annotations do not bump the generation, but some backends go by them.
    const differs = event.type === 'update' && digestOf(event.before) !== digestOf(event.after);
    const key = keyOf(now.namespace, now.name);
    const follows =
      event.type === 'update' &&
      isMarkedScheduled(event.before) !== isMarkedScheduled(now) &&
      this.#backendOf(now)?.followsBinding?.(now) === true;
    if (follows) this.#memory.forget(key);
    if (backendWants(event) || differs || follows) this.#enqueue(key);
  }

  /** Keeps the objects in step until `signal` is aborted. */
  async lead(signal: AbortSignal): Promise<void> {
    const { client, registry, recorder, log, now, watch, backendMetrics, settings } = this.#shared;
    const { view } = watch;
    const queues = new Map(registry.enabled.map((name) => [name, new WorkQueue()]));
    const publisher = new BackendPublisher({ client, registry, recorder, now });
    this.#memory.clear();
    this.#term = { queues, publisher, signal };
    const workers = registry.backends.map((backend) => {
      const { name } = backend;
      return startWorkers({
        queue: queues.get(name) as WorkQueue,
        concurrency: settings.concurrentSyncs,
        reconcile: backendReconciler({
          backend,
          ready: () => registry.readiness(name).state === 'ready',
          kinds: () => registry.owned(name),
          gangOf: (key) => this.#gangOf(key, backend),
          gone: this.#gone.get(name) as Map<string, GangRecord>,
          view,
          client,
          owned: this.#owned,
          memory: this.#memory,
          recorder,
          log,
          synced: (key) => watch.touch(key),
          operated: (operation, ok, seconds) => backendMetrics.operated(name, operation, ok, seconds),
        }),
      });
    });
    for (const gang of view.gangs.values()) this.#enqueue(keyOf(gang.namespace, gang.name));
    void this.#publishing('the backends', () => publisher.begin(signal));
    void syncClusterObjects(this.#shared, signal);
    await aborted(signal);
    this.#term = undefined;
    await Promise.all(workers.map((pool) => pool.stop()));
  }

  #gangOf(key: string, backend: Backend): GangRecord | undefined {
    const { view } = this.#shared.watch;
    const { namespace, name } = splitKey(key);
    const gang = view.gangs.get(namespace, name);
    // Nothing can be made in a Namespace that is ending.
    if (view.namespaces.get('', namespace)?.deletionTimestamp !== undefined) return undefined;
    return gang !== undefined && this.#backendOf(gang) === backend ? gang : undefined;
  }

  #backendOf(gang: GangRecord): Backend | undefined {
    const { registry, settings, watch } = this.#shared;
    return backendOf(gang, { view: watch.view, registry, selectors: settings.selectors });
  }

  #enqueue(key: string): void {
    const { namespace, name } = splitKey(key);
    const gang = this.#shared.watch.view.gangs.get(namespace, name);
    const backend = gang && this.#backendOf(gang);
    if (backend !== undefined) this.#term?.queues.get(backend.name)?.add(key);
  }

  #left(gang: GangRecord): void {
    const key = keyOf(gang.namespace, gang.name);
    this.#memory.forget(key);
    const backend = this.#backendOf(gang);
    const queue = backend && this.#term?.queues.get(backend.name);
    if (backend === undefined || queue === undefined) return;
    this.#gone.get(backend.name)?.set(key, gang);
    queue.add(key);
  }

  #learnt(
    name: string,
    now: ReturnType<BackendRegistry['readiness']>,
    before: ReturnType<BackendRegistry['readiness']>,
    seconds: number,
  ): void {
    const { registry, log, backendMetrics, watch } = this.#shared;
    const version = now.state === 'ready' ? now.facts.version : undefined;
    backendMetrics.initialized(name, now.state === 'ready', seconds, version);
    const backend = registry.resolve(name)?.backend;
    if (backend === undefined) return;
    if (now.state === 'ready') for (const kind of registry.owned(name)) this.#owned.watch(kind);
    if (JSON.stringify(now) === JSON.stringify(before)) return;
    if (now.state === 'failed') {
      log.error(
        { backend: name, reason: now.reason },
        `failed to initialize backend: ${name}: ${now.reason}`,
      );
    } else if (now.state === 'ready') {
      log.info({ backend: name, ...now.facts }, 'backend initialized');
    }
    const term = this.#term;
    if (term !== undefined) {
      void this.#publishing(name, () => term.publisher.publish(name, term.signal));
      void syncClusterObjects(this.#shared, term.signal, name);
    }
    // What it found may change what it writes for every gang that it has.
    for (const gang of watch.view.gangs.values()) {
      if (this.#backendOf(gang) !== backend) continue;
      const key = keyOf(gang.namespace, gang.name);
      this.#memory.forget(key);
      this.#enqueue(key);
      watch.touch(key);
    }
  }

  /** Showing is not worth stopping anything for. */
  async #publishing(what: string, publish: () => Promise<void>): Promise<void> {
    try {
      await publish();
    } catch (error) {
      if (this.#term === undefined) return;
      const hint = isNotFound(error) ? ': is the definition of SchedulerBackends installed?' : '';
      this.#shared.log.error({ what, err: error }, `readiness of backends could not be shown${hint}`);
    }
  }
}

export const schedulerObjects: ControllerFactory = (shared) => new SchedulerObjects(shared);
