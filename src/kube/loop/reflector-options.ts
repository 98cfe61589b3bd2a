import type { Clock, UniformRandom } from '../client/clock.ts';
import type { KubeClient, Selection, Unread } from '../client/client.ts';
import type { KubeObject, Resource } from '../client/resources.ts';
import { STARTING_MS, type ServerBackoffTimes } from './backoff.ts';
import type { CacheMemory } from './cache-memory.ts';
import type { ObjectChange, Identified, Indexer } from './cache.ts';

export type ChangeHandler<T> = (change: ObjectChange<T>) => void;

/** Reports a reflector's state to log and metrics. The functions must not throw. */
export interface ReflectorObserver {
  listed?(count: number, ms: number): void;
  /** Called once when the server does not stream lists. */
  unstreamed?(why: string): void;
  /** Called when the server has accepted a watch. */
  watching?(): void;
  /** @param retryInMs milliseconds until the next attempt */
  failed?(error: unknown, retryInMs: number): void;
  handlerFailed?(error: unknown): void;
}

export interface ReflectorOptions<T extends Identified> extends Selection, Unread {
  readonly client: KubeClient;
  readonly resource: Resource;
  /**
   * Reduces an object to the fields that are used: the caches take most of the memory. undefined leaves the object out,
   * and counts as a deletion of a known one.
   */
  readonly trim: (object: KubeObject) => T | undefined;
  /** The memory limits that all caches share. Absent: all objects are kept. */
  readonly room?: CacheMemory | undefined;
  readonly indexers?: Readonly<Record<string, Indexer<T>>>;
  readonly observer?: ReflectorObserver;
  readonly clock?: Clock;
  readonly random?: UniformRandom;
  readonly times?: Partial<ReflectorTimes>;
}

export interface ReflectorTimes extends ServerBackoffTimes {
  /**
   * Objects per page of a list. 100, because garbage from listing decides the peak of memory: for 20,000 Pods of 5 KB
   * it was 45 MiB lower than with 500, at the same speed.
   */
  readonly pageSize: number;
  /** Requested duration of a watch in seconds; up to a third is added at random. */
  readonly watchSeconds: number;
  /** Milliseconds without an event or bookmark after which a connection counts as dead; longer than the longest watch. */
  readonly silenceMs: number;
  /** The same for a list that is streamed. */
  readonly listSilenceMs: number;
}

/**
 * A silent watch is either quiet or dead, and bookmarks do not tell which: the API server (1.36) sends one two seconds
 * before a watch ends and once a minute, but none while no object of the kind has changed in the cluster. Only the
 * requested end of a watch always arrives. So watches last 30 to 40 s, and 45 s of silence mean a dead connection,
 * whatever proxy is in between; longer watches with the same limit would be cut needlessly in quiet clusters. This
 * costs one request in 35 s, on a connection that stays open.
 */
export const REFLECTOR_TIMES: ReflectorTimes = {
  pageSize: 100,
  watchSeconds: 30,
  silenceMs: 45_000,
  listSilenceMs: 15_000,
  unreachable: { baseMs: 250, maxMs: 1_000 },
  startingMs: STARTING_MS,
  refused: { baseMs: 500, maxMs: 30_000 },
  healthyAfterMs: 60_000,
};
