import type { JsonObject } from '../json/json.ts';
import type { Resource } from '../k8s/resource.ts';
import type { ClusterProbe, SyncContext } from '../backends/cluster.ts';
import type { CallbackAnswer, SyncRequest } from './wire.ts';

/** A callback that failed; by its number Muster finds the error that the callback threw on Muster's side. */
export class CallbackFailed extends Error {
  readonly number: number;

  constructor(number: number, message: string) {
    super(message);
    this.number = number;
  }
}

/** The callbacks that are open during one call of a backend. */
export class CallbackClient {
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

  answered({ number, value, failed }: CallbackAnswer): void {
    const open = this.#open.get(number);
    this.#open.delete(number);
    if (failed === undefined) open?.resolve(value ?? undefined);
    else open?.reject(new CallbackFailed(number, failed));
  }

  /** Fails every open callback, since Muster has given the call up. */
  over(reason: string): void {
    const error = new Error(reason);
    this.#ending.abort(error);
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}

export const probeOf = (callbacks: CallbackClient): ClusterProbe => ({
  versions: (group) => callbacks.call('versions', group),
  resources: (groupVersion) => callbacks.call('resources', groupVersion),
  crdSchema: (crd, version) => callbacks.call('crdSchema', crd, version),
  read: (path) => callbacks.call('read', path),
  dryRunCreate: (resource, object) => callbacks.call('dryRunCreate', resource, object),
});

/**
 * The context that a backend's operation receives.
 * @param given undefined for objects of the cluster, which belong to no gang
 */
export const contextOf = (callbacks: CallbackClient, given: SyncRequest | undefined): SyncContext => {
  const owned = new Map<string, readonly JsonObject[]>(given?.owned);
  return {
    signal: callbacks.signal,
    pods: given?.pods ?? [],
    owned: ({ group, version, plural }: Resource) => owned.get(`${group}/${version}/${plural}`) ?? [],
    apply: (object) => callbacks.call('apply', object),
    remove: (resource, name, despite) => callbacks.call('remove', resource, name, despite),
    read: (path) => callbacks.call('read', path),
    // Not awaited: a warning that is lost must not fail the gang.
    warn: (message) => void callbacks.call('warn', message).catch(() => undefined),
  };
};
