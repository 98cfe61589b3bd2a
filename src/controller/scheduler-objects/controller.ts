import { isDeepStrictEqual } from 'node:util';
import type { Backend } from '../../backends/backend.ts';
import type { Readiness } from '../../backends/cluster.ts';
import type { BackendState, GangRecord } from '../../gang/records.ts';
import { clusterProbe } from '../../kube/client/cluster-probe.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { keyOf, splitKey, type ObjectChange } from '../../kube/loop/cache.ts';
import { aborted } from '../../kube/loop/deadline.ts';
import type { Controller } from '../../kube/loop/manager.ts';
import { backendOf, isTaken, weightIn } from '../watch/gang-view.ts';
import type { BackendsView, ControllerFactory, Shared } from '../watch/shared.ts';
import { KeyedController } from '../../kube/loop/keyed-controller.ts';
import type { Watches } from '../../kube/loop/watches.ts';
import { backendState, Bindings, comesOrGoes, digestOf, SyncMemory } from './sync-memory.ts';
import { syncClusterObjects } from './cluster-objects.ts';
import { ProbeLoop } from './probe-loop.ts';
import { OwnedObjects } from './owned-objects.ts';
import { BackendPublisher } from './publish.ts';
import { backendReconciler, cleanersOf, tellBlocked } from './reconcile-backend.ts';

/** State of one term as leader. */
type Term = { readonly publisher: BackendPublisher; readonly signal: AbortSignal };

/**
 * Runs the backends. Every replica probes the cluster, since admission uses the results, and watches the backends'
 * objects; the leader keeps the objects up to date. Each backend has its own queue, so a backend that hangs delays no
 * other's gangs.
 */
class SchedulerObjects implements Controller, BackendsView {
  readonly name = 'scheduler-objects';
  readonly watches: Watches;
  readonly #shared: Shared;
  readonly #memory = new SyncMemory();
  readonly #owned: OwnedObjects;
  readonly #probes: ProbeLoop;
  /** One controller for each backend, by backend name. */
  readonly #syncs: ReadonlyMap<string, KeyedController>;
  readonly #gone = new Map<string, Map<string, GangRecord>>();
  #term: Term | undefined;

  constructor(shared: Shared) {
    this.#shared = shared;
    const { client, registry, ownNamespace, observe, watch, room } = shared;
    this.watches = watch.watches;
    for (const name of registry.enabled) this.#gone.set(name, new Map());
    this.#owned = new OwnedObjects(client, observe, {
      changed: (key) => this.#syncAgain(key),
      said: (key) => watch.touch(key),
      room,
    });
    this.#probes = new ProbeLoop({
      registry,
      cluster: (signal) => clusterProbe(client, ownNamespace, { signal }),
      probed: (name, now, before, seconds) => this.#learnt(name, now, before, seconds),
    });
    watch.onGang((change) => this.#gangChanged(change));
    watch.onPlace((key) => this.#enqueue(key));
    const bindings = new Bindings((key) => {
      const gang = this.#gang(key);
      if (gang && this.#backendOf(gang)?.followsBinding?.(gang) === true) this.#syncAgain(key);
    });
    watch.onPod((change) => {
      bindings.observe(change);
      const key = comesOrGoes(change);
      const gang = key === undefined ? undefined : this.#gang(key);
      if (key && gang && this.#backendOf(gang)?.followsReferences?.(gang) === true) this.#syncAgain(key);
    });
    for (const { name, hosted } of registry.hosted)
      hosted.subscribe({ ended: () => this.#probes.soon(name), said: (key) => watch.touch(key) });
    this.#syncs = new Map(registry.backends.map((backend) => [backend.name, this.#syncsOf(backend)]));
    shared.metrics.slotsFrom(this.name, () => [...this.#syncs.values()].flatMap(({ queues }) => queues));
    shared.hpc?.onChange((key) => this.#syncAgain(key));
    shared.backends.tell(this);
  }

  /** Resolves once every backend of this process has probed the cluster. */
  async start(): Promise<void> {
    await this.#probes.start();
  }

  check(): string | undefined {
    return this.#probes.check();
  }

  async stop(): Promise<void> {
    await this.#probes.stop();
    await this.#owned.stop();
  }

  stateOf(gang: GangRecord, backend: Backend): BackendState {
    const synced = this.#memory.of(keyOf(gang.namespace, gang.name), gang, backend);
    return backendState(gang, backend, { registry: this.#shared.registry, owned: this.#owned, synced });
  }

  #gangChanged({ old, new: now }: ObjectChange<GangRecord>): void {
    if (old !== undefined && old.uid !== now?.uid) this.#left(old);
    if (now === undefined) return;
    const ends = now.deletionTimestamp !== old?.deletionTimestamp;
    // References alone matter to few backends. Labels and annotations, which some backends use, do not change the
    // generation.
    const backend = this.#backendOf(now) ?? {};
    if (old?.uid !== now.uid || ends || digestOf(old, backend) !== digestOf(now, backend)) {
      this.#enqueue(keyOf(now.namespace, now.name));
    }
  }

  /** Called for an event that the gang's record does not show: the gang is synced again. */
  #syncAgain(key: string): void {
    this.#memory.forget(key);
    this.#enqueue(key);
  }

  /** Keeps one backend's objects in step while this replica leads. */
  #syncsOf(backend: Backend): KeyedController {
    const { client, registry, recorder, log, watch, backendMetrics, settings, hpc } = this.#shared;
    const { name } = backend;
    return new KeyedController({
      name: `${this.name} ${name}`,
      watches: [],
      concurrency: settings.concurrentSyncs,
      weightOf: weightIn(watch.view),
      begin: () => ({
        reconcile: backendReconciler({
          backend,
          ready: () => registry.readiness(name).state === 'ready',
          kinds: () => registry.owned(name),
          gangOf: (key) => this.#gang(key),
          takes: (gang) => isTaken(gang, { view: watch.view, selectors: settings.selectors }),
          serves: (gang) => this.#backendOf(gang) === backend && !this.#isEnding(gang.namespace),
          gone: this.#gone.get(name) as Map<string, GangRecord>,
          view: watch.view,
          client,
          owned: this.#owned,
          memory: this.#memory,
          recorder,
          log,
          synced: (key) => watch.touch(key),
          besides: hpc && ((context, gang) => hpc.sync(context, gang)),
          operated: (operation, ok, seconds) => backendMetrics.operated(name, operation, ok, seconds),
        }),
      }),
    });
  }

  /** Keeps the objects in step until `signal` is aborted. */
  async lead(signal: AbortSignal): Promise<void> {
    const { client, registry, recorder, now, watch } = this.#shared;
    const publisher = new BackendPublisher({ client, registry, recorder, now });
    this.#memory.clear();
    this.#term = { publisher, signal };
    const syncs = Promise.all(Array.from(this.#syncs.values(), (controller) => controller.lead(signal)));
    for (const gang of watch.view.gangs.values()) this.#enqueue(keyOf(gang.namespace, gang.name));
    void this.#publishing('the backends', () => publisher.begin(signal));
    for (const backend of registry.backends) void this.#syncCluster(backend, this.#term);
    // An error in a backend's controller also ends the term.
    await Promise.race([aborted(signal), syncs]);
    this.#term = undefined;
    await syncs;
  }

  #gang(key: string): GangRecord | undefined {
    const { namespace, name } = splitKey(key);
    return this.#shared.watch.view.gangs.get(namespace, name);
  }

  /** Whether the Namespace is being deleted, so that no object can be created in it. */
  #isEnding(namespace: string): boolean {
    return this.#shared.watch.view.namespaces.get('', namespace)?.deletionTimestamp !== undefined;
  }

  #backendOf(gang: GangRecord): Backend | undefined {
    const { registry, settings, watch } = this.#shared;
    return backendOf(gang, { view: watch.view, registry, selectors: settings.selectors });
  }

  /** Enqueues the gang for its backend, and for earlier backends that have to clean up. */
  #enqueue(key: string): void {
    const gang = this.#gang(key);
    if (this.#term === undefined || gang === undefined) return;
    const names = new Set(cleanersOf(gang));
    const backend = this.#backendOf(gang);
    if (backend !== undefined) names.add(backend.name);
    for (const name of names) {
      const syncs = this.#syncs.get(name);
      if (syncs !== undefined) syncs.add(key);
      else if (gang.deletionTimestamp !== undefined) tellBlocked(this.#shared.recorder, gang, name);
    }
  }

  #left(gang: GangRecord): void {
    const key = keyOf(gang.namespace, gang.name);
    this.#memory.forget(key);
    const backend = this.#backendOf(gang);
    const syncs = this.#term && backend && this.#syncs.get(backend.name);
    // With the finalizer the backend has already cleaned up, or somebody removed the finalizer to skip it.
    if (backend === undefined || syncs === undefined || cleanersOf(gang).includes(backend.name)) return;
    this.#gone.get(backend.name)?.set(key, gang);
    syncs.add(key);
  }

  #learnt(name: string, now: Readiness, before: Readiness, seconds: number): void {
    const { registry, log, backendMetrics, watch } = this.#shared;
    const version = now.state === 'ready' ? now.facts.version : undefined;
    backendMetrics.initialized(name, now.state === 'ready', seconds, version);
    const backend = registry.resolve(name)?.backend;
    if (backend === undefined) return;
    if (now.state === 'ready') {
      for (const kind of registry.owned(name)) this.#owned.watch(kind);
      if (this.#term !== undefined) void this.#syncCluster(backend, this.#term);
    }
    if (isDeepStrictEqual(now, before)) return;
    if (now.state === 'failed') {
      const { reason } = now;
      log.error({ backend: name, reason }, `failed to initialize backend: ${name}: ${reason}`);
    } else if (now.state === 'ready') {
      log.info({ backend: name, ...now.facts }, 'backend initialized');
    }
    const term = this.#term;
    if (term) void this.#publishing(name, () => term.publisher.publish(name, term.signal));
    // The probe's result may change the objects that the backend writes for each of its gangs.
    for (const gang of watch.view.gangs.values()) {
      if (this.#backendOf(gang) !== backend) continue;
      const key = keyOf(gang.namespace, gang.name);
      this.#syncAgain(key);
      watch.touch(key);
    }
  }

  /** Keeps a backend's cluster-wide objects. A change may enable the backend to do more, so the backend is probed again. */
  async #syncCluster(backend: Backend, { publisher, signal }: Term): Promise<void> {
    const changed = await syncClusterObjects(backend, this.#shared, signal, (note) =>
      this.#publishing(backend.name, () => publisher.tell(backend.name, note, signal)),
    );
    if (changed) this.#probes.soon(backend.name);
  }

  /** Logs errors of publishing: they must not stop anything else. */
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
