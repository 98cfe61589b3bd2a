import { isObject, own, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import type { Resource } from '../k8s/resource.ts';
import { MusterError } from '../errors.ts';
import type { KubeCallOptions } from '../kube/client/client.ts';
import { ApiError } from '../kube/client/errors.ts';
import type { KubeObject, Target } from '../kube/client/resources.ts';
import { GangObjects } from '../controller/scheduler-objects/gang-objects.ts';
import { controllerRefOf } from '../controller/scheduler-objects/owned-objects.ts';
import type { Backend } from '../backends/backend.ts';
import type { OwnedObject, SyncContext } from '../backends/cluster.ts';
import type { StoredGang } from './sample-gangs.ts';
import { settled } from './subject.ts';

/** Failures of one call to the API server. `a lost answer`: the write is carried out, and no answer comes. */
export const TROUBLES = ['409 Conflict', '403 Forbidden', '500', 'a lost answer'] as const;
export type CallFailure = (typeof TROUBLES)[number] | 'silence';

interface Stored {
  readonly resource: Resource;
  object: JsonObject;
}

/** An API server in memory, without schemas, for the objects of backends; one call can be made to fail. */
export class MemoryCluster {
  /** Writes that were carried out, such as `create PodGroup ml/train`. */
  readonly writes: string[] = [];
  /** Number of calls so far. */
  calls = 0;
  /** The failure of one call, by the call's number from 0. */
  trouble: { readonly at: number; readonly what: CallFailure } | undefined;
  readonly #stored = new Map<string, Stored>();
  #version = 0;

  /** The client through which the backend's objects are written. */
  readonly client = {
    get: <T = KubeObject>({ resource, namespace, name }: Target, options?: KubeCallOptions): Promise<T> =>
      this.#call(options, () => this.#found(resource, namespace ?? '', name).object as T),
    create: <T = KubeObject>(resource: Resource, object: KubeObject, options?: KubeCallOptions): Promise<T> =>
      this.#call(options, () => {
        const { name, namespace = '' } = object.metadata;
        const key = keyOf(resource, namespace, name);
        if (this.#stored.has(key)) throw refusal(409, 'AlreadyExists', `${key} exists`);
        this.#store(resource, 'create', {
          ...(JSON.parse(JSON.stringify(object)) as JsonObject),
          metadata: { ...(object.metadata as unknown as JsonObject), uid: `uid-${this.#version + 1}` },
        });
        return {} as T;
      }),
    mergePatch: <T = KubeObject>(
      { resource, namespace = '', name }: Target,
      patch: object,
      options?: KubeCallOptions,
    ): Promise<T> =>
      this.#call(options, () => {
        const { object } = this.#found(resource, namespace, name);
        const [given, known] = [patch, object].map((one) =>
          ownString(ownObject(one, 'metadata'), 'resourceVersion'),
        );
        if (given !== undefined && given !== known) throw refusal(409, 'Conflict', `${name} has changed`);
        this.#store(resource, 'patch', merged(object, patch as JsonObject) as JsonObject);
        return {} as T;
      }),
    delete: ({ resource, namespace = '', name }: Target, options?: KubeCallOptions): Promise<void> =>
      this.#call(options, () => {
        this.#found(resource, namespace, name);
        this.#stored.delete(keyOf(resource, namespace, name));
        this.writes.push(`delete ${resource.kind} ${namespace}/${name}`);
      }),
  };

  /** The object as a watch's cache would have it. */
  known(resource: Resource, namespace: string, name: string): JsonObject | undefined {
    return this.#stored.get(keyOf(resource, namespace, name))?.object;
  }

  /** The objects of a kind that a gang controls. */
  ownedBy(uid: string, resource?: Resource): JsonObject[] {
    return [...this.#stored.values()]
      .filter((one) => resource === undefined || idOf(one.resource) === idOf(resource))
      .map(({ object }) => object)
      .filter((object) => controllerRefOf(object)?.uid === uid);
  }

  /** Changes every object as another client would; the change is not counted in `calls` and `writes`. */
  edit(change: (object: JsonObject) => JsonObject): void {
    for (const stored of this.#stored.values()) {
      this.#version += 1;
      stored.object = withVersion(change(stored.object), this.#version);
    }
  }

  /** The labels, annotations and specs of all objects as sorted text, for comparisons. */
  picture(): string {
    const lines = [...this.#stored].map(([key, { object }]) => {
      const { labels, annotations } = ownObject(object, 'metadata') ?? {};
      return `${key} ${JSON.stringify(sorted({ labels: labels ?? {}, annotations: annotations ?? {}, spec: own(object, 'spec') ?? {} }))}`;
    });
    return lines.sort().join('\n');
  }

  #found(resource: Resource, namespace: string, name: string): Stored {
    const found = this.#stored.get(keyOf(resource, namespace, name));
    if (found === undefined) throw refusal(404, 'NotFound', `${resource.plural} "${name}" not found`);
    return found;
  }

  #store(resource: Resource, verb: string, object: JsonObject): void {
    this.#version += 1;
    const metadata = ownObject(object, 'metadata');
    const [namespace, name] = [ownString(metadata, 'namespace') ?? '', ownString(metadata, 'name') ?? ''];
    this.#stored.set(keyOf(resource, namespace, name), {
      resource,
      object: withVersion(object, this.#version),
    });
    this.writes.push(`${verb} ${resource.kind} ${namespace}/${name}`);
  }

  async #call<T>(options: KubeCallOptions | undefined, answer: () => T): Promise<T> {
    const trouble = this.trouble?.at === this.calls ? this.trouble.what : undefined;
    this.calls += 1;
    const { signal } = options ?? {};
    signal?.throwIfAborted();
    await Promise.resolve();
    switch (trouble) {
      case undefined:
        return answer();
      case '409 Conflict':
        throw refusal(409, 'Conflict', 'the object has been modified');
      case '403 Forbidden':
        throw refusal(403, 'Forbidden', 'a right is missing');
      case '500':
        throw refusal(500, 'InternalError', 'etcd has no leader');
      case 'a lost answer':
        answer();
        throw new MusterError('CLUSTER_UNREACHABLE', 'no answer', 'wait');
      case 'silence':
        return new Promise<T>((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
    }
  }
}

/** The context of a backend's operations, with the loop's own code writing to the kit's cluster. */
export function contextOn(cluster: MemoryCluster, gang: StoredGang, signal: AbortSignal) {
  const applied: OwnedObject[] = [];
  const objects = new GangObjects(
    cluster.client,
    { get: (resource, namespace, name) => cluster.known(resource, namespace, name) },
    gang,
    signal,
  );
  const context: SyncContext = {
    signal,
    pods: [],
    owned: (resource: Resource): readonly JsonObject[] => cluster.ownedBy(gang.uid, resource),
    apply: (object) => {
      applied.push(object);
      return objects.apply(object);
    },
    remove: (resource, name) => objects.remove(resource, name),
    read: () => Promise.resolve(undefined),
    warn: () => undefined,
  };
  return { context, applied };
}

/**
 * Runs syncPodGang() once.
 * @returns the objects that it applied
 * @throws the backend's own error; Error where it does not end in time
 */
export async function sync(
  backend: Backend,
  cluster: MemoryCluster,
  gang: StoredGang,
  ms?: number,
): Promise<readonly OwnedObject[]> {
  let applied: readonly OwnedObject[] = [];
  await settled(
    'syncPodGang()',
    (signal) => {
      const hands = contextOn(cluster, gang, signal);
      applied = hands.applied;
      return backend.syncPodGang(hands.context, gang);
    },
    ms,
  );
  return applied;
}

export const removal = (backend: Backend, cluster: MemoryCluster, gang: StoredGang): Promise<void> =>
  settled('onPodGangDelete()', (signal) =>
    backend.onPodGangDelete(contextOn(cluster, gang, signal).context, gang),
  );

const idOf = ({ group, version, plural }: Resource): string => `${group}/${version}/${plural}`;
const keyOf = (resource: Resource, namespace: string, name: string): string =>
  `${idOf(resource)} ${namespace}/${name}`;

const refusal = (status: number, reason: string, message: string): ApiError =>
  new ApiError('the API server of the kit', { status, reason, message });

const withVersion = (object: JsonObject, version: number): JsonObject => ({
  ...object,
  metadata: { ...ownObject(object, 'metadata'), resourceVersion: String(version) },
});

/** JSON Merge Patch, RFC 7386. */
function merged(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result: Record<string, Json> = { ...(isObject(target) ? target : {}) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else result[key] = merged(result[key], value);
  }
  return result;
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
