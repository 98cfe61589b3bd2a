import type { JsonObject } from '../json/json.ts';
import type { Resource } from '../k8s/resource.ts';
import type { ClusterProbe, SyncContext } from '../backends/cluster.ts';
import type { HandAnswer, SyncGiven } from './messages.ts';

/** A call of the hands that failed: with the number by which Muster knows what it threw. */
export class HandFailed extends Error {
  readonly number: number;

  constructor(number: number, message: string) {
    super(message);
    this.number = number;
  }
}

/** What one call of a backend asks Muster for, and waits for. */
export class HandCalls {
  readonly #ask: (number: number, method: string, given: readonly unknown[]) => void;
  readonly #open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  readonly #ending = new AbortController();
  #last = 0;

  constructor(ask: (number: number, method: string, given: readonly unknown[]) => void) {
    this.#ask = ask;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  call<T>(method: string, ...given: unknown[]): Promise<T> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason as Error);
    this.#last += 1;
    const number = this.#last;
    return new Promise((resolve, reject) => {
      this.#open.set(number, { resolve: resolve as (value: unknown) => void, reject });
      this.#ask(number, method, given);
    });
  }

  answered({ number, value, failed }: HandAnswer): void {
    const open = this.#open.get(number);
    this.#open.delete(number);
    if (failed === undefined) open?.resolve(value ?? undefined);
    else open?.reject(new HandFailed(number, failed));
  }

  /** Nobody waits for the call any more. */
  over(reason: string): void {
    const error = new Error(reason);
    this.#ending.abort(error);
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}

export const probeOf = (hands: HandCalls): ClusterProbe => ({
  versions: (group) => hands.call('versions', group),
  resources: (groupVersion) => hands.call('resources', groupVersion),
  crdSchema: (crd, version) => hands.call('crdSchema', crd, version),
  read: (path) => hands.call('read', path),
  dryRunCreate: (resource, object) => hands.call('dryRunCreate', resource, object),
});

/** @param given undefined for objects of the cluster, which belong to no gang */
export const contextOf = (hands: HandCalls, given: SyncGiven | undefined): SyncContext => {
  const owned = new Map<string, readonly JsonObject[]>(given?.owned);
  return {
    signal: hands.signal,
    pods: given?.pods ?? [],
    owned: ({ group, version, plural }: Resource) => owned.get(`${group}/${version}/${plural}`) ?? [],
    apply: (object) => hands.call('apply', object),
    remove: (resource, name, despite) => hands.call('remove', resource, name, despite),
    read: (path) => hands.call('read', path),
    // Nobody waits for it: that it cannot be told is no failure of the gang's.
    warn: (message) => void hands.call('warn', message).catch(() => undefined),
  };
};
