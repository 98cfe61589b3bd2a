import type { Backend } from '../../backends/backend.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { BackendState, GangRecord } from '../../gang/records.ts';
import { isMarkedScheduled } from '../../gang/plan/conditions.ts';
import { backendWants } from '../../gang/plan/predicates.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { clusterProbe } from '../../kube/client/cluster-probe.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import type { Resource } from '../../kube/client/resources.ts';
import type { Logger } from '../../telemetry/log.ts';
import { keyOf, splitKey, type Change } from '../../kube/loop/cache.ts';
import type { EventRecorder } from '../../kube/loop/event-recorder.ts';
import type { GangView } from '../watch/gang-view.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';
import { startWorkers } from '../../kube/loop/work-queue-workers.ts';
import { WorkQueue } from '../../kube/loop/work-queue.ts';
import { syncClusterObjects } from './cluster-objects.ts';
import { InitLoop } from './init-loop.ts';
import { OwnedObjects } from './owned-objects.ts';
import { BackendPublisher } from './publish.ts';
import { backendReconciler, type Operation } from './reconcile-backend.ts';
import { digestOf, SyncMemory } from './sync-memory.ts';

/** For the metrics that the requirements name. */
export interface BackendObserver {
  initialized?(backend: string, ok: boolean, seconds: number, version: string | undefined): void;
  operated?(backend: string, operation: Operation, ok: boolean, seconds: number): void;
}

export interface BackendControllersOptions {
  readonly client: KubeClient;
  readonly registry: BackendRegistry;
  readonly view: GangView;
  /** The backend of a gang, where one serves it. */
  readonly backendOf: (gang: GangRecord) => Backend | undefined;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly log: Logger;
  readonly now: () => Date;
  readonly concurrentSyncs: number;
  /** Muster's own, where objects are tried. */
  readonly ownNamespace: string;
  readonly observe: (resource: Resource) => ReflectorObserver;
  readonly observer?: BackendObserver;
  /** A gang has to be looked at again by the loop. */
  readonly look: (key: string) => void;
}

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
export class BackendControllers {
  readonly #options: BackendControllersOptions;
  readonly #memory = new SyncMemory();
  readonly #owned: OwnedObjects;
  readonly #inits: InitLoop;
  readonly #gone = new Map<string, Map<string, GangRecord>>();
  #term: Term | undefined;

  constructor(options: BackendControllersOptions) {
    this.#options = options;
    const { client, registry, ownNamespace, observe } = options;
    for (const name of registry.enabled) this.#gone.set(name, new Map());
    this.#owned = new OwnedObjects(client, observe, {
      changed: (key) => {
        this.#memory.forget(key);
        this.#enqueue(key);
      },
      said: options.look,
    });
    this.#inits = new InitLoop({
      registry,
      probe: (signal) => clusterProbe(client, ownNamespace, { signal }),
      looked: (name, now, before, seconds) => this.#looked(name, now, before, seconds),
    });
  }

  /** Resolves once every backend has looked at the cluster. */
  start(): Promise<void> {
    return this.#inits.start();
  }

  async stop(): Promise<void> {
    await this.#inits.stop();
    await this.#owned.stop();
  }

  /** The backend of a gang as the judgement sees it. */
  stateOf(gang: GangRecord, backend: Backend): BackendState {
    const readiness = this.#options.registry.readiness(backend.name);
    const releaseOrder = backend.releaseOrder?.(gang) ?? 'all-at-once';
    const common = { name: backend.name, schedulerName: backend.schedulerName, releaseOrder };
    if (readiness.state !== 'ready') {
      const reason = readiness.state === 'failed' ? readiness.reason : 'it has not looked at the cluster yet';
      return { ...common, ready: false, reason, objectsExist: false };
    }
    const synced = this.#memory.of(keyOf(gang.namespace, gang.name), gang, backend.name);
    const objects = (backend.owns?.() ?? []).flatMap(
      (kind) => this.#owned.of(kind, gang.namespace, gang.name) ?? [],
    );
    return {
      ...common,
      ready: true,
      objectsExist: synced.done,
      ...(!synced.done && synced.failure !== undefined && { objectsWait: synced.failure }),
      says: objects.length === 0 ? undefined : backend.explain?.(objects),
    };
  }

  /** The watch of PodGangs saw this. */
  gangChanged(change: Change<GangRecord>): void {
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
      this.#options.backendOf(now)?.followsBinding?.(now) === true;
    if (follows) this.#memory.forget(key);
    if (backendWants(event) || differs || follows) this.#enqueue(key);
  }

  /** Keeps the objects in step until `signal` is aborted. */
  async lead(signal: AbortSignal): Promise<void> {
    const { client, registry, recorder, log, now, view, observer, look, concurrentSyncs } = this.#options;
    const queues = new Map(registry.enabled.map((name) => [name, new WorkQueue()]));
    const publisher = new BackendPublisher({ client, registry, recorder, now });
    this.#memory.clear();
    this.#term = { queues, publisher, signal };
    const workers = registry.backends.map((backend) => {
      const { name } = backend;
      return startWorkers({
        queue: queues.get(name) as WorkQueue,
        concurrency: concurrentSyncs,
        reconcile: backendReconciler({
          backend,
          ready: () => registry.readiness(name).state === 'ready',
          gangOf: (key) => this.#gangOf(key, backend),
          gone: this.#gone.get(name) as Map<string, GangRecord>,
          view,
          client,
          owned: this.#owned,
          memory: this.#memory,
          recorder,
          log,
          look,
          operated: (operation, ok, seconds) => observer?.operated?.(name, operation, ok, seconds),
        }),
      });
    });
    for (const gang of view.gangs.values()) this.#enqueue(keyOf(gang.namespace, gang.name));
    void this.#publishing('the backends', () => publisher.begin(signal));
    void syncClusterObjects(this.#options, signal);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#term = undefined;
    await Promise.all(workers.map((pool) => pool.stop()));
  }

  #gangOf(key: string, backend: Backend): GangRecord | undefined {
    const { view, backendOf } = this.#options;
    const { namespace, name } = splitKey(key);
    const gang = view.gangs.get(namespace, name);
    // Nothing can be made in a Namespace that is ending.
    if (view.namespaces.get('', namespace)?.deletionTimestamp !== undefined) return undefined;
    return gang !== undefined && backendOf(gang) === backend ? gang : undefined;
  }

  #enqueue(key: string): void {
    const { namespace, name } = splitKey(key);
    const gang = this.#options.view.gangs.get(namespace, name);
    const backend = gang && this.#options.backendOf(gang);
    if (backend !== undefined) this.#term?.queues.get(backend.name)?.add(key);
  }

  #left(gang: GangRecord): void {
    const key = keyOf(gang.namespace, gang.name);
    this.#memory.forget(key);
    const backend = this.#options.backendOf(gang);
    const queue = backend && this.#term?.queues.get(backend.name);
    if (backend === undefined || queue === undefined) return;
    this.#gone.get(backend.name)?.set(key, gang);
    queue.add(key);
  }

  #looked(
    name: string,
    now: ReturnType<BackendRegistry['readiness']>,
    before: ReturnType<BackendRegistry['readiness']>,
    seconds: number,
  ): void {
    const { registry, log, observer, view, backendOf, look } = this.#options;
    const version = now.state === 'ready' ? now.facts.version : undefined;
    observer?.initialized?.(name, now.state === 'ready', seconds, version);
    const backend = registry.resolve(name)?.backend;
    if (backend === undefined) return;
    if (now.state === 'ready') for (const kind of backend.owns?.() ?? []) this.#owned.watch(kind);
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
      void syncClusterObjects(this.#options, term.signal, name);
    }
    // What it found may change what it writes for every gang that it has.
    for (const gang of view.gangs.values()) {
      if (backendOf(gang) !== backend) continue;
      const key = keyOf(gang.namespace, gang.name);
      this.#memory.forget(key);
      this.#enqueue(key);
      look(key);
    }
  }

  /** Showing is not worth stopping anything for. */
  async #publishing(what: string, publish: () => Promise<void>): Promise<void> {
    try {
      await publish();
    } catch (error) {
      if (this.#term === undefined) return;
      const hint = isNotFound(error) ? ': is the definition of SchedulerBackends installed?' : '';
      this.#options.log.error({ what, err: error }, `readiness of backends could not be shown${hint}`);
    }
  }
}
