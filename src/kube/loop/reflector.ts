import { systemClock, sleep, type Clock, type Random } from '../client/clock.ts';
import type { Selection } from '../client/client.ts';
import { isGone, unreachable } from '../client/errors.ts';
import type { KubeObject } from '../client/resources.ts';
import { Cache, type Change, type Identified, type Store } from './cache.ts';
import { ReflectorBackoff } from './reflector-backoff.ts';
import { listPages } from './reflector-list.ts';
import {
  REFLECTOR_TIMES,
  type ChangeHandler,
  type ReflectorOptions,
  type ReflectorTimes,
} from './reflector-options.ts';

/** A watch that ends sooner than this without a word is counted as a failure, or it would be a hot loop. */
const SHORTEST_WATCH_MS = 1_000;

/**
 * Keeps a cache of the objects of one kind in step with the API server: lists, then watches from there, again and again
 * until stopped. Changes reach the handlers in order, the cache being ahead of them by nothing.
 */
export class Reflector<T extends Identified> {
  readonly #options: ReflectorOptions<T>;
  readonly #times: ReflectorTimes;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff: ReflectorBackoff;
  readonly #cache: Cache<T>;
  readonly #handlers = new Set<ChangeHandler<T>>();
  readonly #stop = new AbortController();
  readonly #synced: Promise<void>;
  readonly #settle: { resolve: () => void; reject: (reason: Error) => void };
  #running: Promise<void> | undefined;
  #hasSynced = false;
  /** Where the next watch starts; undefined means list first. */
  #resourceVersion: string | undefined;
  #lastContact: number | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#times = { ...REFLECTOR_TIMES, ...options.times };
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#backoff = new ReflectorBackoff(this.#times, this.#clock, this.#random);
    this.#cache = new Cache(options.indexers);
    let settle = { resolve: (): void => undefined, reject: (_: Error): void => undefined };
    this.#synced = new Promise((resolve, reject) => (settle = { resolve, reject }));
    this.#settle = settle;
    // Nobody has to wait for it.
    this.#synced.catch(() => undefined);
  }

  get store(): Store<T> {
    return this.#cache;
  }

  /** Whether a first list is complete and was handed to the handlers. Stays true over lost connections. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Resolves once {@link hasSynced}. @throws when the reflector is stopped before */
  whenSynced(): Promise<void> {
    return this.#synced;
  }

  /** Milliseconds since the server last sent anything; Infinity before. */
  get silentForMs(): number {
    return this.#lastContact === undefined ? Infinity : this.#clock.now() - this.#lastContact;
  }

  /** What is there already comes as `added` at once. @returns what ends the subscription */
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
    this.#settle.reject(stopped);
    await this.#running;
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
        this.#alive();
        // A list that had to begin again tells everything again.
        if (first) found.length = 0;
        for (const object of page) {
          const trimmed = this.#trim(object);
          if (trimmed !== undefined) found.push(trimmed);
        }
      },
    );
    for (const change of this.#cache.replace(found)) this.#publish(change);
    this.#resourceVersion = resourceVersion;
    observer?.listed?.(found.length, this.#clock.now() - startedAt);
    if (!this.#hasSynced) {
      this.#hasSynced = true;
      this.#settle.resolve();
    }
  }

  async #watch(): Promise<void> {
    const { client, resource, observer } = this.#options;
    const startedAt = this.#clock.now();
    const ending = new AbortController();
    const stop = (): void => ending.abort(this.#stop.signal.reason);
    this.#stop.signal.addEventListener('abort', stop, { once: true });
    let cancel = this.#whenSilent(ending);
    let received = 0;
    try {
      const batches = client.watch(resource, {
        ...this.#selection(),
        resourceVersion: this.#resourceVersion ?? '',
        timeoutSeconds: Math.round(this.#times.watchSeconds * (1 + this.#random() / 3)),
        signal: ending.signal,
        accepted: () => {
          this.#alive();
          observer?.watching?.();
        },
      });
      for await (const batch of batches) {
        cancel();
        cancel = this.#whenSilent(ending);
        this.#alive();
        received += batch.length;
        for (const event of batch) this.#take(event);
      }
    } finally {
      cancel();
      this.#stop.signal.removeEventListener('abort', stop);
    }
    this.#alive();
    if (received === 0 && this.#clock.now() - startedAt < SHORTEST_WATCH_MS)
      throw unreachable(`watch ${resource.plural}`, client.server, new Error('the watch ended at once'));
  }

  #take({ type, object }: { type: string; object: KubeObject }): void {
    const { resourceVersion } = object.metadata;
    if (type !== 'BOOKMARK') {
      const trimmed = this.#trim(object);
      const changes =
        trimmed === undefined
          ? this.#cache.forget(object.metadata.namespace ?? '', object.metadata.name)
          : type === 'DELETED'
            ? this.#cache.remove(trimmed)
            : this.#cache.put(trimmed);
      for (const change of changes) this.#publish(change);
    }
    if (resourceVersion) this.#resourceVersion = resourceVersion;
  }

  /** An object that cannot be understood is left out and reported: it must not keep the others from being seen. */
  #trim(object: KubeObject): T | undefined {
    try {
      return this.#options.trim(object);
    } catch (error) {
      this.#options.observer?.handlerFailed?.(error);
      return undefined;
    }
  }

  #whenSilent(ending: AbortController): () => void {
    const { client, resource } = this.#options;
    const { silenceMs } = this.#times;
    return this.#clock.after(silenceMs, () => {
      const why = new Error(`nothing for ${silenceMs / 1000} s, not even a bookmark`);
      ending.abort(unreachable(`watch ${resource.plural}`, client.server, why));
    });
  }

  #alive(): void {
    this.#lastContact = this.#clock.now();
    this.#backoff.alive();
  }

  #selection(): Selection {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return { namespace, labelSelector, fieldSelector };
  }

  #publish(change: Change<T>): void {
    for (const handler of this.#handlers) this.#handOver(handler, change);
  }

  /** One handler's defect is not the others', nor the cache's. */
  #handOver(handler: ChangeHandler<T>, change: Change<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#options.observer?.handlerFailed?.(error);
    }
  }
}
