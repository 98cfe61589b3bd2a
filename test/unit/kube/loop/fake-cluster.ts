import type { KubeClient, WatchEvent, WatchOptions } from '../../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../../src/kube/client/resources.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import { until } from '../../tls/until.ts';

/** What an API server without streaming lists answers to the request for one. */
export const WITHOUT_WATCH_LIST = new ApiError('watch', { status: 422, reason: 'Invalid', message: 'no' });

/** Lists what is there, and passes on the events of a test as they come. */
export class FakeCluster {
  readonly objects = new Map<Resource, KubeObject[]>();
  /** What happens before a list is answered. */
  beforeList: (resource: Resource) => Promise<void> = () => Promise.resolve();
  readonly #takers = new Map<Resource, (events: WatchEvent<KubeObject>[] | ApiError) => void>();

  readonly client = {
    server: 'https://fake',
    list: async (resource: Resource) => {
      await this.beforeList(resource);
      return { items: this.objects.get(resource) ?? [], resourceVersion: '1', continue: undefined };
    },
    close: () => Promise.resolve(),
    watch: (resource: Resource, { signal, initialEvents }: WatchOptions) => {
      if (initialEvents === true) throw WITHOUT_WATCH_LIST;
      return this.#watch(resource, signal ?? new AbortController().signal);
    },
  } as unknown as KubeClient;

  async tell(resource: Resource, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): Promise<void> {
    await until(`${resource.plural} are watched`, () => this.#takers.has(resource));
    this.#takers.get(resource)?.([{ type, object }]);
    this.#takers.delete(resource);
  }

  /** Ends the watch with 410, so that it begins with a list again. */
  async expire(resource: Resource): Promise<void> {
    await until(`${resource.plural} are watched`, () => this.#takers.has(resource));
    this.#takers.get(resource)?.(new ApiError('watch', { status: 410, message: 'too old' }));
    this.#takers.delete(resource);
  }

  async *#watch(resource: Resource, signal: AbortSignal): AsyncGenerator<WatchEvent<KubeObject>[], void> {
    while (!signal.aborted) {
      const events = await new Promise<WatchEvent<KubeObject>[] | ApiError | undefined>((resolve) => {
        this.#takers.set(resource, resolve);
        signal.addEventListener('abort', () => resolve(undefined), { once: true });
      });
      if (events instanceof ApiError) throw events;
      if (events !== undefined) yield events;
    }
  }
}
