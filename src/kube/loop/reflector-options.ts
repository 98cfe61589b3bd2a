import type { Clock, UniformRandom } from '../client/clock.ts';
import type { KubeClient, Selection, Unread } from '../client/client.ts';
import type { KubeObject, Resource } from '../client/resources.ts';
import { STARTING_MS, type ServerBackoffTimes } from './backoff.ts';
import type { CacheMemory } from './cache-memory.ts';
import type { ObjectChange, Identified, Indexer } from './cache.ts';

export type ChangeHandler<T> = (change: ObjectChange<T>) => void;

/** What a reflector tells of itself, for log and metrics. None of it may throw. */
export interface ReflectorObserver {
  listed?(count: number, ms: number): void;
  /** The server has accepted a watch. */
  watching?(): void;
  /** @param retryInMs until the next attempt */
  failed?(error: unknown, retryInMs: number): void;
  handlerFailed?(error: unknown): void;
}

export interface ReflectorOptions<T extends Identified> extends Selection, Unread {
  readonly client: KubeClient;
  readonly resource: Resource;
  /**
   * Keeps of an object what is used, and nothing else: this is what all memory goes into. undefined leaves the object
   * out, and takes a known one for deleted.
   */
  readonly trim: (object: KubeObject) => T | undefined;
  /** What all caches share, and what one namespace may have of it. Absent: whatever there is is kept. */
  readonly room?: CacheMemory | undefined;
  readonly indexers?: Readonly<Record<string, Indexer<T>>>;
  readonly observer?: ReflectorObserver;
  readonly clock?: Clock;
  readonly random?: UniformRandom;
  readonly times?: Partial<ReflectorTimes>;
}

export interface ReflectorTimes extends ServerBackoffTimes {
  /**
   * Objects per page of a list. 100: what is thrown away while listing decides the peak of memory. For 20,000 Pods of
   * 5 KB it was 45 MiB lower than with 500, at the same speed.
   */
  readonly pageSize: number;
  /** A watch is asked to end after this many seconds, and up to a third more. */
  readonly watchSeconds: number;
  /** Milliseconds without an event or bookmark after which the connection is taken for dead; above the longest watch. */
  readonly silenceMs: number;
}

/**
 * A silent watch is either quiet or dead, and bookmarks do not tell: the API server (1.36) sends one two seconds before a
 * watch ends and once a minute, but none while nothing of the kind has changed anywhere in the cluster. What always comes
 * is the end that was asked for. So watches last 30 to 40 s, and 45 s of silence mean a dead connection, whatever lies on
 * the way; a longer watch with the same limit would be cut for no reason whenever a cluster is quiet. It costs one request
 * in 35 s, on a connection that stays open.
 */
export const REFLECTOR_TIMES: ReflectorTimes = {
  pageSize: 100,
  watchSeconds: 30,
  silenceMs: 45_000,
  unreachable: { baseMs: 250, maxMs: 1_000 },
  startingMs: STARTING_MS,
  refused: { baseMs: 500, maxMs: 30_000 },
  healthyAfterMs: 60_000,
};
