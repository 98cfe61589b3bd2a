import { own, ownObject, ownString, type Json, type JsonObject } from '../../../../src/json/json.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject, Resource, Target } from '../../../../src/kube/client/resources.ts';

/** Objects in memory, for faults that a real API server shows too seldom: conflicts, refusals, an old cache. */
export class FakeObjects {
  readonly objects = new Map<string, JsonObject>();
  readonly calls: string[] = [];
  /** Names of what stays although it is deleted, for its finalizers. */
  readonly keeps = new Set<string>();
  /** The uid of the PodGang of a name, where it is not `uid-of-<name>`; `undefined` for one that is gone. */
  readonly podGangs = new Map<string, string | undefined>();
  /** Called before each call; what it throws is the answer. */
  before: (call: string) => void = () => undefined;
  #version = 100;

  get client(): KubeClient {
    const methods = {
      create: (resource: Resource, object: KubeObject) =>
        this.#call(`create ${object.metadata.name}`, () => this.#create(resource, object)),
      get: (target: Target) =>
        target.resource.kind === 'PodGang'
          ? this.#call(`get PodGang ${target.name}`, () => this.#podGang(target.name))
          : this.#call(`get ${target.name}`, () => this.#get(target)),
      list: () =>
        this.#call('list', () => ({
          items: [...this.objects.values()],
          resourceVersion: '1',
          continue: undefined,
        })),
      mergePatch: (target: Target, patch: JsonObject) =>
        this.#call(`patch ${target.name}`, () => this.#patch(target, patch)),
      patchStatus: (target: Target, patch: JsonObject) =>
        this.#call(`status ${target.name}`, () => this.#patch(target, patch)),
      delete: (target: Target) =>
        this.#call(`delete ${target.name}`, () => {
          if (!this.keeps.has(target.name)) this.objects.delete(keyOf(target));
        }),
    };
    return methods as unknown as KubeClient;
  }

  put(name: string, object: JsonObject, namespace = 'ml'): void {
    this.#version += 1;
    const metadata = {
      namespace,
      name,
      resourceVersion: String(this.#version),
      ...ownObject(object, 'metadata'),
    };
    this.objects.set(`${namespace}/${name}`, { ...object, metadata });
  }

  of(name: string, namespace = 'ml'): JsonObject | undefined {
    return this.objects.get(`${namespace}/${name}`);
  }

  async #call<T>(call: string, answer: () => T): Promise<T> {
    this.calls.push(call);
    await Promise.resolve();
    this.before(call);
    return answer();
  }

  #create({ kind }: Resource, object: KubeObject): JsonObject {
    const { name, namespace = '' } = object.metadata;
    if (this.of(name, namespace) !== undefined)
      throw refusal(409, 'AlreadyExists', `${kind} ${name} already exists`);
    this.put(
      name,
      {
        ...(object as unknown as JsonObject),
        metadata: { ...(object.metadata as unknown as JsonObject), uid: `uid-${name}` },
      },
      namespace,
    );
    return this.of(name, namespace) as JsonObject;
  }

  #podGang(name: string): JsonObject {
    const uid = this.podGangs.has(name) ? this.podGangs.get(name) : `uid-of-${name}`;
    if (uid === undefined) throw refusal(404, 'NotFound', `${name} not found`);
    return { metadata: { name, uid } };
  }

  #get(target: Target): JsonObject {
    const found = this.objects.get(keyOf(target));
    if (found === undefined) throw refusal(404, 'NotFound', `${target.name} not found`);
    return found;
  }

  #patch(target: Target, patch: JsonObject): JsonObject {
    const found = this.#get(target);
    const asked = ownString(ownObject(patch, 'metadata'), 'resourceVersion');
    if (asked !== undefined && asked !== ownString(ownObject(found, 'metadata'), 'resourceVersion')) {
      throw refusal(409, 'Conflict', 'the object has been modified');
    }
    this.#version += 1;
    const merged = mergePatch(found, patch) as JsonObject;
    const metadata = { ...ownObject(merged, 'metadata'), resourceVersion: String(this.#version) };
    this.objects.set(keyOf(target), { ...merged, metadata });
    return this.#get(target);
  }
}

export const refusal = (status: number, reason: string, message: string): ApiError =>
  new ApiError('test', { status, reason, message });

const keyOf = ({ namespace = '', name }: Target): string => `${namespace}/${name}`;

/** RFC 7386, as it is written there. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result = new Map(
    typeof target === 'object' && target !== null && !Array.isArray(target) ? Object.entries(target) : [],
  );
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/** The part of an object's JSON at a path, for expectations. */
export const at = (object: JsonObject | undefined, ...path: string[]): Json | undefined =>
  path.reduce<Json | undefined>((value, key) => own(value, key), object);
