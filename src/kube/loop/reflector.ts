import { systemClock, sleep, Slices, type Clock, type UniformRandom } from '../client/clock.ts';
import { isGone, unreachable } from '../client/errors.ts';
import type { WatchEvent } from '../client/client.ts';
import type { KubeObject, Resource } from '../client/resources.ts';
import { Cache, type ObjectChange, type Identified, type Store } from './cache.ts';
import { ServerBackoff } from './backoff.ts';
import { KindMemory } from './cache-memory.ts';
import { selectionOf } from './list-pages.ts';
import { Lister } from './lister.ts';
import { happenedIn, Listing, type Happened } from './listing.ts';
import { Refill } from './refill.ts';
import { startSilenceAlarm } from './deadline.ts';
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
  readonly #lister: Lister<T>;
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
        read: (namespace, take) =>
          this.#lister.readNamespace(namespace, (page) =>
            take(page.flatMap((object) => this.#trim(object) ?? [])),
          ),
        put: (object) => {
          // An object that is gone already would stay: the list does not know that it has to be deleted.
          if (this.#resourceVersion === undefined) throw new Error('all are being listed');
          this.#put(object);
        },
        clock: this.#clock,
        signal: this.#stop.signal,
      });
    this.#lister = new Lister(options, this.#times, this.#clock, this.#stop.signal);
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
    const begun = (): void => this.#share?.beginList();
    const admit = (object: T): T | undefined => this.#admit(object);
    const listing = new Listing<T>(this.#cache, { trim: (object) => this.#trim(object), admit, begun });
    const resourceVersion = await this.#lister.read(listing, () => this.#backoff.alive());
    await this.#replaceBy(listing);
    this.#resourceVersion = resourceVersion;
    this.#options.observer?.listed?.(listing.count, this.#clock.now() - startedAt);
    if (!this.#hasSynced) {
      this.#hasSynced = true;
      this.#synced.resolve();
    }
  }

  /** A repeated list is passed on at once, since those who read the cache must not see a mixture of old and new. */
  async #replaceBy(listing: Listing<T>): Promise<void> {
    const slices = new Slices(this.#clock);
    for (const change of listing.changes()) {
      this.#publish(change);
      if (this.#hasSynced || !slices.isOver()) continue;
      await slices.next();
      this.#stop.signal.throwIfAborted();
    }
    this.#share?.endList();
    for (const happened of listing.later) this.#apply(happened);
  }

  async #watch(): Promise<void> {
    const { client, resource, observer } = this.#options;
    const { silenceMs } = this.#times;
    const startedAt = this.#clock.now();
    const silence = new AbortController();
    const alarm = startSilenceAlarm(this.#clock, silenceMs, () => {
      const why = new Error(`nothing for ${silenceMs / 1000} s, not even a bookmark`);
      silence.abort(unreachable(`watch ${resource.plural}`, client.server, why));
    });
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

  #take({ type, object }: WatchEvent<KubeObject>): void {
    const { resourceVersion } = object.metadata;
    if (type !== 'BOOKMARK') this.#apply(happenedIn({ type, object }, (given) => this.#trim(given)));
    if (resourceVersion) this.#resourceVersion = resourceVersion;
  }

  #apply({ deleted, namespace, name, object }: Happened<T>): void {
    if (object === undefined) {
      this.#tell(this.#cache.forget(namespace, name));
    } else if (deleted) {
      this.#refill?.wentMeanwhile(object.uid);
      this.#tell(this.#cache.remove(object));
    } else {
      this.#put(object);
    }
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

  /** The state of an object to keep; see {@link KindMemory.admit}. */
  #admit(now: T): T | undefined {
    if (this.#share === undefined) return now;
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
