import type { JsonObject } from '../../src/json/json.ts';
import type { KubeClient, Page, WatchEvent, WatchOptions } from '../../src/kube/client/client.ts';
import { ApiError } from '../../src/kube/client/errors.ts';
import type { KubeObject, Resource, Target } from '../../src/kube/client/resources.ts';

type Objects = Map<string, KubeObject>;
type Event = WatchEvent<KubeObject>;

/** An API server in memory, as a fleet's loop sees one: lists, watches, and patches that are held against what was read. */
export class FleetApi {
  readonly #kinds = new Map<string, Objects>();
  readonly #watches = new Map<string, (event: Event) => void>();
  #version = 1;
  patches = 0;

  put(plural: string, object: KubeObject): void {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    this.#store(plural, { ...object, metadata });
  }

  all(plural: string): KubeObject[] {
    return [...this.#kind(plural).values()];
  }

  client(): KubeClient {
    const patch = (target: Target, part: object): Promise<KubeObject> =>
      Promise.resolve(this.#patch(target, part as JsonObject));
    return {
      list: ({ plural }: Resource): Promise<Page<KubeObject>> =>
        Promise.resolve({
          items: this.all(plural),
          resourceVersion: String(this.#version),
          continue: undefined,
        }),
      watch: (resource: Resource, given: WatchOptions) => {
        if (given.initialEvents === true)
          throw new ApiError('watch', { status: 422, message: 'no streaming lists' });
        given.accepted?.();
        return this.#watch(resource, given.signal);
      },
      mergePatch: patch,
      patchStatus: patch,
      create: () => Promise.resolve({}),
      close: () => Promise.resolve(),
    } as unknown as KubeClient;
  }

  async *#watch({ plural }: Resource, signal?: AbortSignal): AsyncGenerator<readonly Event[]> {
    let waiting: Event[] = [];
    let wake: () => void = () => undefined;
    signal?.addEventListener('abort', () => wake());
    this.#watches.set(plural, (event) => {
      waiting.push(event);
      wake();
    });
    while (signal?.aborted !== true) {
      if (waiting.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const batch = waiting;
      waiting = [];
      if (batch.length > 0) yield batch;
    }
  }

  #patch({ resource: { plural }, namespace, name }: Target, part: JsonObject): KubeObject {
    this.patches += 1;
    const before = this.#kind(plural).get(`${namespace ?? ''}/${name}`);
    if (before === undefined) throw new Error(`${name} is not there`);
    const { metadata, spec, status } = part as unknown as Partial<KubeObject>;
    if (metadata?.resourceVersion !== before.metadata.resourceVersion) throw new Error(`${name} was changed`);
    this.#version += 1;
    const after: KubeObject = {
      ...before,
      metadata: {
        ...before.metadata,
        annotations: { ...before.metadata.annotations, ...metadata?.annotations },
        resourceVersion: String(this.#version),
        generation: (before.metadata.generation ?? 0) + (spec === undefined ? 0 : 1),
      },
      spec: { ...(before.spec as object), ...(spec as object | undefined) },
      status: { ...(before.status as object | undefined), ...(status as object | undefined) },
    };
    this.#store(plural, after);
    return after;
  }

  #store(plural: string, object: KubeObject): void {
    const { namespace = '', name } = object.metadata;
    const kind = this.#kind(plural);
    const type = kind.has(`${namespace}/${name}`) ? 'MODIFIED' : 'ADDED';
    kind.set(`${namespace}/${name}`, object);
    this.#watches.get(plural)?.({ type, object });
  }

  #kind(plural: string): Objects {
    const found = this.#kinds.get(plural) ?? new Map<string, KubeObject>();
    this.#kinds.set(plural, found);
    return found;
  }
}
