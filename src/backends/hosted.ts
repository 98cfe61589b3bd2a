import type { JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Membership } from '../gang/membership.ts';
import type { Backend } from './backend.ts';

/** Key under which a backend that runs in another process holds its {@link Hosted}. A symbol, so that no module sets it by accident. */
export const HOSTED = Symbol('hosted');

/**
 * A backend in another process. Admission asks it beforehand and gets a backend that answers at once, for this one object.
 * @throws TryLater where it does not run, or does not answer in time
 */
export interface Hosted {
  /** undefined while it has not yet said which scheduler it is for. */
  readonly schedulerName: string | undefined;
  /** Whether it declared to look at a Pod's large lists; not while it has declared nothing yet. */
  readonly readsLargeLists: boolean;
  ofPod(pod: JsonObject, gang: Membership, withinMs: number): Promise<Backend>;
  /** @param before absent at creation */
  ofGang(gang: PodGang, before: PodGang | undefined, withinMs: number): Promise<Backend>;
  /** Whether it has anything to say of changes. */
  readonly warnsOfUpdates: boolean;
  /** Of a change that is let in whatever the backend says: never rejects, and says nothing where there is no answer. */
  ofChange(before: PodGang, after: PodGang, withinMs: number): Promise<Backend>;
  /** Hears that it ended by itself, or that what it says of the objects of a gang, by key, is not what it was. */
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
