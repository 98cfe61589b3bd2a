import type { JsonObject } from '../../../../src/json/json.ts';
import { ANNOTATION_PREEMPTION_PLAN } from '../../../../src/api/names.ts';
import type { PatchOperation } from '../../../../src/json/patch.ts';
import type { KubeClient, PodToEvict, Selection } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import type { Resource, Target } from '../../../../src/kube/client/resources.ts';
import { applyPatch } from 'fast-json-patch';

/** One write that was asked for, in few words. */
export type Write = string;

const refusal = (status: number, message = 'no', reason = ''): ApiError =>
  new ApiError('fake', { status, message, reason });

interface Stored {
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    [key: string]: unknown;
  };
  [key: string]: unknown;
}

/** An API server in memory, with as much of it as making room asks for. Evicted Pods go when the test says so. */
export class FakeApi {
  readonly #objects = new Map<string, Map<string, Stored>>();
  readonly writes: Write[] = [];
  /** Pods that a budget protects. */
  readonly protected = new Set<string>();
  /** Called before each write, and after it is done; throwing is what a crash looks like from inside. */
  before: (write: Write) => void = () => undefined;
  after: (write: Write) => void = () => undefined;
  #version = 0;

  put(plural: string, object: JsonObject): void {
    const stored = structuredClone(object) as unknown as Stored;
    stored.metadata.resourceVersion = String((this.#version += 1));
    stored.metadata.uid ??= `uid-${stored.metadata.name}`;
    this.#kind(plural).set(keyOf(stored.metadata), stored);
  }

  get(plural: string, key: string): Stored | undefined {
    return this.#kind(plural).get(key);
  }

  all(plural: string): Stored[] {
    return [...this.#kind(plural).values()];
  }

  remove(plural: string, key: string): void {
    this.#kind(plural).delete(key);
  }

  /** Every Pod on its way out is gone. */
  leave(): void {
    for (const pod of this.all('pods'))
      if (pod.metadata['deletionTimestamp'] !== undefined) this.remove('pods', keyOf(pod.metadata));
  }

  planOf(gang: string): string | undefined {
    const annotations = this.get('podgangs', gang)?.metadata['annotations'] as
      Record<string, string> | undefined;
    return annotations?.[ANNOTATION_PREEMPTION_PLAN];
  }

  readonly client = {
    list: (resource: Resource, { namespace, labelSelector }: Selection = {}) => {
      if (resource.plural === 'podgroups') return Promise.reject(refusal(404));
      const [label = '', value] = labelSelector?.split('=') ?? [];
      const selected = this.all(resource.plural).filter(({ metadata }) => {
        const labels = (metadata['labels'] ?? {}) as Record<string, string>;
        return (
          (namespace === undefined || metadata.namespace === namespace) &&
          (labelSelector === undefined || labels[label] === value)
        );
      });
      return Promise.resolve({
        items: structuredClone(selected),
        resourceVersion: '1',
        continue: undefined,
      });
    },
    get: (target: Target) => this.#answer(() => structuredClone(this.#read(target))),
    mergePatch: (target: Target, patch: JsonObject) =>
      this.#write(`remember ${target.name}`, () => this.#merge(target, patch)),
    patchStatus: (target: Target, patch: JsonObject) =>
      this.#write(`nominate ${target.name}`, () => this.#merge(target, patch)),
    jsonPatch: (target: Target, operations: readonly PatchOperation[]) =>
      this.#write(`mark ${target.name}`, () => {
        const object = this.#read(target);
        try {
          applyPatch(object, structuredClone(operations) as never, true);
        } catch {
          throw refusal(422);
        }
        return object;
      }),
    evict: (pod: PodToEvict, { dryRun = false }: { dryRun?: boolean } = {}) =>
      dryRun
        ? this.#answer(() => this.#go(pod, true))
        : this.#write(`evict ${pod.name}`, () => this.#go(pod)),
    delete: ({ namespace = '', name }: Target, options: { preconditions: { uid: string } }) =>
      this.#write(`delete ${name}`, () => {
        const { uid } = options.preconditions;
        this.#go({ namespace, name, uid }, false, true);
      }),
  } as unknown as KubeClient;

  #kind(plural: string): Map<string, Stored> {
    let kind = this.#objects.get(plural);
    if (kind === undefined) this.#objects.set(plural, (kind = new Map<string, Stored>()));
    return kind;
  }

  #read({ resource, namespace, name }: Target): Stored {
    const found = this.get(resource.plural, keyOf({ namespace, name }));
    if (found === undefined) throw refusal(404);
    return found;
  }

  #go({ namespace, name, uid }: PodToEvict, dryRun = false, anyway = false): void {
    const pod = this.get('pods', `${namespace}/${name}`);
    if (pod === undefined) throw refusal(404);
    if (pod.metadata.uid !== uid) throw refusal(409);
    if (this.protected.has(name) && !anyway) throw refusal(429, 'Cannot evict pod', 'TooManyRequests');
    if (!dryRun) pod.metadata['deletionTimestamp'] = '2026-01-01T00:00:00Z';
  }

  #merge(target: Target, patch: JsonObject): Stored {
    const object = this.#read(target);
    const { resourceVersion, uid } = patch['metadata'] as { resourceVersion?: string; uid?: string };
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
      throw refusal(409);
    if (uid !== undefined && uid !== object.metadata.uid) throw refusal(409);
    merge(object, patch);
    object.metadata.resourceVersion = String((this.#version += 1));
    return structuredClone(object);
  }

  #answer<T>(answer: () => T): Promise<T> {
    return new Promise((resolve) => resolve(answer()));
  }

  #write<T>(what: Write, write: () => T): Promise<T> {
    return this.#answer(() => {
      this.before(what);
      this.writes.push(what);
      const done = write();
      this.after(what);
      return done;
    });
  }
}

const keyOf = ({ namespace = '', name }: { namespace?: string | undefined; name: string }): string =>
  `${namespace}/${name}`;

function merge(into: Record<string, unknown>, patch: JsonObject): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete into[key];
    else if (typeof value === 'object' && !Array.isArray(value)) {
      into[key] ??= {};
      merge(into[key] as Record<string, unknown>, value as JsonObject);
    } else into[key] = value;
  }
}
