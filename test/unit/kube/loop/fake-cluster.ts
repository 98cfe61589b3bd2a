import type { KubeClient, WatchEvent } from '../../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../../src/kube/client/resources.ts';
import { until } from '../../tls/until.ts';

/** Lists what is there, and passes on the events of a test as they come. */
export class FakeCluster {
  readonly objects = new Map<Resource, KubeObject[]>();
  /** What happens before a list is answered. */
  beforeList: (resource: Resource) => Promise<void> = () => Promise.resolve();
  readonly #takers = new Map<Resource, (events: WatchEvent<KubeObject>[]) => void>();

  readonly client = {
    server: 'https://fake',
    list: async (resource: Resource) => {
      await this.beforeList(resource);
      return { items: this.objects.get(resource) ?? [], resourceVersion: '1', continue: undefined };
    },
    close: () => Promise.resolve(),
    watch: (resource: Resource, { signal }: { signal: AbortSignal }) => this.#watch(resource, signal),
  } as unknown as KubeClient;

  async tell(resource: Resource, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): Promise<void> {
    await until(`${resource.plural} are watched`, () => this.#takers.has(resource));
    this.#takers.get(resource)?.([{ type, object }]);
    this.#takers.delete(resource);
  }

  async *#watch(resource: Resource, signal: AbortSignal): AsyncGenerator<WatchEvent<KubeObject>[], void> {
    while (!signal.aborted) {
      const events = await new Promise<WatchEvent<KubeObject>[] | undefined>((resolve) => {
        this.#takers.set(resource, resolve);
        signal.addEventListener('abort', () => resolve(undefined), { once: true });
      });
      if (events !== undefined) yield events;
    }
  }
}
