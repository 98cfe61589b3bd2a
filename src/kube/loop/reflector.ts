import { systemClock, sleep, type Clock, type UniformRandom } from '../client/clock.ts';
import { isGone, unreachable } from '../client/errors.ts';
import type { KubeObject, Resource } from '../client/resources.ts';
import { Cache, type ObjectChange, type Identified, type Store } from './cache.ts';
import { ServerBackoff } from './backoff.ts';
import { KindMemory } from './cache-memory.ts';
import { listPages, selectionOf } from './list-pages.ts';
import { Refill } from './refill.ts';
import { startSilenceAlarm, type SilenceAlarm } from './deadline.ts';
import {
  REFLECTOR_TIMES,
  type ChangeHandler,
  type ReflectorOptions,
  type ReflectorTimes,
} from './reflector-options.ts';

/** A watch that ends sooner than this without an event counts as a failure; otherwise it could become a hot loop. */
const SHORTEST_WATCH_MS = 1_000;

/**
 * Keeps a cache of the objects of one kind in step with the API server: lists, then watches from there, and repeats
 * until stopped. Handlers are called in the order of the changes; at each call the cache contains no later change.
 */
export class Reflector<T extends Identified> {
  readonly #options: ReflectorOptions<T>;
  readonly #times: ReflectorTimes;
  readonly #clock: Clock;
  readonly #random: UniformRandom;
  readonly #backoff: ServerBackoff;
  readonly #cache: Cache<T>;
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #stop = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  /** Absent: no objects are left out. */
  readonly #share: KindMemory<T> | undefined;
  readonly #refill: Refill<T> | undefined;
  #running: Promise<void> | undefined;
  #hasSynced = false;
  /** The resourceVersion that the next watch starts from; undefined means list first. */
  #resourceVersion: string | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#times = { ...REFLECTOR_TIMES, ...options.times };
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#backoff = new ServerBackoff(this.#times, this.#clock, this.#random);
    this.#cache = new Cache(options.indexers);
    const share = options.room && new KindMemory<T>(options.room, options.resource.plural);
    this.#share = share;
    this.#refill =
      share &&
      new Refill({
        share,
        read: async (namespace, take) => {
          const { signal } = this.#stop;
          await listPages({ ...options, namespace }, this.#times.pageSize, signal, (page) =>
            take(page.flatMap((object) => this.#trim(object) ?? [])),
          );
        },
        put: (object) => this.#put(object),
        clock: this.#clock,
        signal: this.#stop.signal,
      });
    this.#synced.promise.catch(() => undefined);
  }

  get resource(): Resource {
    return this.#options.resource;
  }

  get store(): Store<T> {
    return this.#cache;
  }

  /** The resourceVersion up to which all changes are known; undefined before a list and while one is repeated. */
  readonly upTo = (): string | undefined => this.#resourceVersion;

  /** Whether a first list was passed to the handlers completely. Stays true when connections are lost. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves once {@link hasSynced}. @throws when the reflector is stopped before */
  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Calls the handler with existing objects as `added` at once. @returns a function that ends the subscription */
  subscribe(handler: ChangeHandler<T>): () => void {
    for (const object of this.#cache.values())
      this.#handOver(handler, { type: 'added', old: undefined, new: object });
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    const stopped = new Error('the reflector was stopped');
    this.#stop.abort(stopped);
    this.#synced.reject(stopped);
    await Promise.all([this.#running, this.#refill?.ended]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#resourceVersion === undefined) await this.#list();
        await this.#watch();
      } catch (error) {
        if (signal.aborted) return;
        if (isGone(error)) this.#resourceVersion = undefined;
        const wait = this.#backoff.after(error);
        this.#options.observer?.failed?.(error, wait);
        await sleep(this.#clock, wait, signal).catch(() => undefined);
      }
    }
  }

  async #list(): Promise<void> {
    const startedAt = this.#clock.now();
    const { observer } = this.#options;
    const found: T[] = [];
    const resourceVersion = await listPages(
      this.#options,
      this.#times.pageSize,
      this.#stop.signal,
      (page, first) => {
        this.#backoff.alive();
        // A list that started over passes all objects again.
        if (first) {
          found.length = 0;
          this.#share?.beginList();
        }
        for (const object of page) {
          const kept = this.#admit(this.#trim(object));
          if (kept !== undefined) found.push(kept);
        }
      },
    );
    this.#tell(this.#cache.replace(found));
    this.#share?.endList();
    this.#resourceVersion = resourceVersion;
    observer?.listed?.(found.length, this.#clock.now() - startedAt);
    if (!this.#hasSynced) {
      this.#hasSynced = true;
      this.#synced.resolve();
    }
  }

  async #watch(): Promise<void> {
    const { client, resource, observer } = this.#options;
    const startedAt = this.#clock.now();
    const silence = new AbortController();
    const alarm = this.#whenSilent(silence);
    let received = 0;
    try {
      const batches = client.watch(resource, {
        ...selectionOf(this.#options),
        resourceVersion: this.#resourceVersion ?? '',
        timeoutSeconds: Math.round(this.#times.watchSeconds * (1 + this.#random() / 3)),
        signal: AbortSignal.any([this.#stop.signal, silence.signal]),
        accepted: () => {
          this.#backoff.alive();
          observer?.watching?.();
        },
      });
      for await (const batch of batches) {
        alarm.heard();
        this.#backoff.alive();
        received += batch.length;
        for (const event of batch) this.#take(event);
      }
    } finally {
      alarm.cancel();
    }
    this.#backoff.alive();
    if (received === 0 && this.#clock.now() - startedAt < SHORTEST_WATCH_MS)
      throw unreachable(`watch ${resource.plural}`, client.server, new Error('the watch ended at once'));
  }

  #take({ type, object }: { type: string; object: KubeObject }): void {
    const { resourceVersion } = object.metadata;
    if (type !== 'BOOKMARK') {
      const trimmed = this.#trim(object);
      if (trimmed === undefined) {
        this.#tell(this.#cache.forget(object.metadata.namespace ?? '', object.metadata.name));
      } else if (type === 'DELETED') {
        this.#refill?.wentMeanwhile(trimmed.uid);
        this.#tell(this.#cache.remove(trimmed));
      } else {
        this.#put(trimmed);
      }
    }
    if (resourceVersion) this.#resourceVersion = resourceVersion;
  }

  /** An object that `trim` cannot read is left out and reported: it must not hide the others. */
  #trim(object: KubeObject): T | undefined {
    try {
      return this.#options.trim(object);
    } catch (error) {
      this.#options.observer?.handlerFailed?.(error);
      return undefined;
    }
  }

  /** Ends a watch that has been silent for too long. */
  #whenSilent(silence: AbortController): SilenceAlarm {
    const [{ client, resource }, { silenceMs }] = [this.#options, this.#times];
    return startSilenceAlarm(this.#clock, silenceMs, () => {
      const why = new Error(`nothing for ${silenceMs / 1000} s, not even a bookmark`);
      silence.abort(unreachable(`watch ${resource.plural}`, client.server, why));
    });
  }

  /** The state of an object to keep; see {@link KindMemory.admit}. */
  #admit(now: T | undefined): T | undefined {
    if (now === undefined || this.#share === undefined) return now;
    const kept = this.#share.admit(now, this.#cache.get(now.namespace, now.name));
    if (kept !== now) this.#refill?.begin();
    return kept;
  }

  #put(object: T): void {
    if (this.#admit(object) === object) this.#tell(this.#cache.put(object));
  }

  #tell(changes: Iterable<ObjectChange<T>>): void {
    for (const change of changes) this.#publish(change);
  }

  #publish(change: ObjectChange<T>): void {
    this.#share?.account(change);
    for (const handler of this.#handlers) this.#handOver(handler, change);
  }

  /** An error of one handler must not affect other handlers or the cache. */
  #handOver(handler: ChangeHandler<T>, change: ObjectChange<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#options.observer?.handlerFailed?.(error);
    }
  }
}
