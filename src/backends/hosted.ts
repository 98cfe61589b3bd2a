import type { JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Membership } from '../gang/membership.ts';
import type { Backend } from './backend.ts';

/**
 * Key under which a backend in another process holds its {@link Hosted}. A symbol, so that no module sets it by accident.
 */
export const HOSTED = Symbol('hosted');

/**
 * A backend in another process. Admission queries it first and gets a backend that answers synchronously for this one
 * object.
 * @throws TryLater when the process does not run or does not answer in time
 */
export interface Hosted {
  /** undefined until the process has declared its scheduler. */
  readonly schedulerName: string | undefined;
  /** Whether the backend declared that it reads a Pod's large lists; false until it has declared anything. */
  readonly readsLargeLists: boolean;
  ofPod(pod: JsonObject, gang: Membership, withinMs: number): Promise<Backend>;
  /** @param before undefined when the gang is created */
  ofGang(gang: PodGang, before: PodGang | undefined, withinMs: number): Promise<Backend>;
  /** Whether the backend has `warnOfUpdate`. */
  readonly warnsOfUpdates: boolean;
  /**
   * Warnings about an update, which is admitted in any case: never rejects, and gives no warnings when there is no answer.
   */
  ofChange(before: PodGang, after: PodGang, withinMs: number): Promise<Backend>;
  /**
   * Notifies the listener when the process ended by itself, and when its judgement of a gang's objects, by key, has changed.
   */
  subscribe(listener: HostedListener): void;
  stop(): void;
}

export interface HostedListener {
  ended(): void;
  said(gang: string): void;
}

export interface HostedBackend extends Backend {
  readonly [HOSTED]: Hosted;
}

export const hostedIn = (backend: Backend): Hosted | undefined => (backend as Partial<HostedBackend>)[HOSTED];
