import type { Clock } from '../client/clock.ts';
import { isServerFailure } from '../client/errors.ts';
import type { KubeObject } from '../client/resources.ts';
import type { Identified } from './cache.ts';
import { listPages } from './list-pages.ts';
import { listStream } from './list-stream.ts';
import type { Listing } from './listing.ts';
import type { ReflectorOptions, ReflectorTimes } from './reflector-options.ts';

/**
 * After this many streams that failed half way, stayed silent or were answered with 5xx a list is read in pages: the API
 * server closes a stream whose reader is slower than the changes of the kind, a proxy may close any that lasts, and where
 * the watch cache falls behind etcd a stream ends with 504 while pages are read from etcd.
 */
const MAX_CUTS = 2;

/** Reads lists of one kind: as a stream where the API server serves that, else in pages. */
export class Lister<T extends Identified> {
  readonly #options: ReflectorOptions<T>;
  readonly #times: ReflectorTimes;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #cuts = 0;

  constructor(options: ReflectorOptions<T>, times: ReflectorTimes, clock: Clock, signal: AbortSignal) {
    this.#options = options;
    this.#times = times;
    this.#clock = clock;
    this.#signal = signal;
  }

  /**
   * @param heard called whenever objects were received
   * @returns the resourceVersion that a watch starts from
   */
  async read(listing: Listing<T>, heard: () => void): Promise<string> {
    const streamed = this.#cuts < MAX_CUTS ? await this.#stream(listing, heard) : undefined;
    this.#cuts = 0;
    if (streamed !== undefined) return streamed;
    return this.#pages(this.#options, (page, first) => {
      heard();
      if (first) listing.begin();
      for (const object of page) listing.take(object);
    });
  }

  async readNamespace(namespace: string, take: (objects: readonly KubeObject[]) => void): Promise<void> {
    await this.#pages({ ...this.#options, namespace }, take);
  }

  #pages(
    from: ReflectorOptions<T>,
    take: (page: readonly KubeObject[], first: boolean) => void,
  ): Promise<string> {
    return listPages(from, this.#times.pageSize, this.#signal, take);
  }

  async #stream(listing: Listing<T>, heard: () => void): Promise<string | undefined> {
    listing.begin();
    let cut = false;
    try {
      return await listStream({
        ...this.#options,
        clock: this.#clock,
        signal: this.#signal,
        silenceMs: this.#times.listSilenceMs,
        silent: () => (cut = true),
        refused: (why) => this.#options.observer?.unstreamed?.(why),
        take: (events) => {
          heard();
          cut ||= events.length > 0;
          for (const event of events) listing.takeEvent(event);
        },
      });
    } catch (error) {
      if (cut || isServerFailure(error)) this.#cuts += 1;
      throw error;
    }
  }
}
