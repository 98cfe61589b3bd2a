import type { KubeCallOptions, KubeClient } from '../../../../src/kube/client/client.ts';
import { ApiError, unreachable } from '../../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../../src/kube/client/resources.ts';

/** One Lease, written only by those who have read its last version. */
export class FakeLeaseServer {
  lease: KubeObject | undefined;
  /** Every write that took effect. */
  readonly holders: string[] = [];
  /** Calls that a rate limit would hold back. */
  limited = 0;
  #version = 0;
  /** How often somebody else still writes the Lease just before we do. */
  touches = 0;
  /** The answer to a write that was done comes when this is over: its sender may have broken off by then. */
  beforeAnswer: (signal: AbortSignal | undefined) => Promise<void> = () => Promise.resolve();

  /** @param isCut whether this client reaches the server at the moment */
  client(isCut: () => boolean = () => false): KubeClient {
    const reached = (options: KubeCallOptions | undefined): void => {
      if (options?.unlimited !== true) this.limited += 1;
      if (isCut()) throw unreachable('lease', 'https://nowhere.test', new Error('cut'));
    };
    const store = (object: KubeObject): KubeObject => {
      this.#version += 1;
      this.lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
      this.holders.push((object.spec as { holderIdentity: string }).holderIdentity);
      return this.lease;
    };
    const conflict = (reason: string): ApiError =>
      new ApiError('lease', { status: 409, reason, message: '' });
    const verbs: Pick<KubeClient, 'server' | 'get' | 'create' | 'replace'> = {
      server: 'https://nowhere.test',
      get: async <T>(_: unknown, options?: KubeCallOptions) => {
        await Promise.resolve();
        reached(options);
        if (this.lease === undefined) throw new ApiError('lease', { status: 404, message: '' });
        return this.lease as T;
      },
      create: async <T>(_: unknown, object: KubeObject, options?: KubeCallOptions) => {
        await Promise.resolve();
        reached(options);
        if (this.lease !== undefined) throw conflict('AlreadyExists');
        const stored = store(object);
        await this.beforeAnswer(options?.signal);
        return stored as T;
      },
      replace: async <T>(_: unknown, object: KubeObject, options?: KubeCallOptions) => {
        await Promise.resolve();
        reached(options);
        if (this.touches > 0 && this.lease !== undefined) {
          this.touches -= 1;
          store(this.lease);
        }
        if (object.metadata.resourceVersion !== this.lease?.metadata.resourceVersion)
          throw conflict('Conflict');
        const stored = store(object);
        await this.beforeAnswer(options?.signal);
        return stored as T;
      },
    };
    return verbs as KubeClient;
  }
}
