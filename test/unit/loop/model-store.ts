import jsonPatch, { type Operation } from 'fast-json-patch';
import type { Json, JsonObject } from '../../../src/api/json.ts';
import type { GangRecord, PodRecord } from '../../../src/gang/gang-state.ts';
import { readGang, readPod } from '../../../src/gang/read-records.ts';

/** A JSON object that a test may change before it is stored. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Draft = any;
export type Kind = 'gang' | 'pod';

export interface LogEntry {
  readonly kind: Kind;
  readonly key: string;
  readonly object: JsonObject | undefined;
}

/** Not structuredClone: under Jest its objects are of another realm, so that no deep comparison holds. */
const copy = (value: unknown): Draft => JSON.parse(JSON.stringify(value)) as Draft;

/** Why the store refused a write. */
export class Refused extends Error {}

/**
 * The API server as far as the loop can tell: objects with uids, resourceVersions and generations, patches that
 * apply or do not, and the log from which watches are served. It has no admission, so that a broken loop can be
 * seen to do harm.
 */
export class ModelStore {
  readonly log: LogEntry[] = [];
  readonly objects = { gang: new Map<string, JsonObject>(), pod: new Map<string, JsonObject>() };
  #revision = 0;
  #uids = 0;
  /** Seconds since 1970. */
  clock = 1_800_000_000;

  time(): string {
    return `${new Date(this.clock * 1000).toISOString().slice(0, 19)}Z`;
  }

  create(kind: Kind, draft: Draft): void {
    this.#uids += 1;
    draft.metadata = {
      ...draft.metadata,
      uid: `uid-${this.#uids}`,
      generation: 1,
      creationTimestamp: this.time(),
    };
    this.#put(kind, keyOf(draft as JsonObject), draft);
  }

  /** Changes an object as somebody else than the loop does. */
  edit(kind: Kind, key: string, change: (draft: Draft) => void): void {
    const old = this.objects[kind].get(key);
    if (old === undefined) return;
    const draft: Draft = copy(old);
    change(draft);
    if (JSON.stringify(draft) === JSON.stringify(old)) return;
    this.#bumpGeneration(old, draft);
    this.#put(kind, key, draft);
  }

  remove(kind: Kind, key: string): void {
    if (!this.objects[kind].delete(key)) return;
    this.#revision += 1;
    this.log.push({ kind, key, object: undefined });
  }

  /** A JSON patch of the main resource: `status` cannot be reached through it. */
  jsonPatch(kind: Kind, key: string, operations: readonly unknown[]): JsonObject {
    const old = this.#get(kind, key);
    let draft: Draft;
    try {
      draft = jsonPatch.applyPatch(copy(old) as Draft, operations as Operation[], true).newDocument;
    } catch (error) {
      throw new Refused(`422 ${String((error as Error).name)}`, { cause: error });
    }
    this.#checkLock(old, draft);
    if (old['status'] !== undefined) draft.status = old['status'];
    this.#bumpGeneration(old, draft);
    return this.#put(kind, key, draft);
  }

  /** A merge patch of the status of a PodGang, with what the schema of the CRD asks of it. */
  mergeStatus(key: string, patch: Draft): JsonObject {
    const old = this.#get('gang', key);
    const draft: Draft = copy(old);
    if (patch.metadata?.uid !== undefined && patch.metadata.uid !== draft.metadata.uid) {
      throw new Refused('409 uid');
    }
    if (patch.metadata?.resourceVersion !== undefined) {
      draft.metadata.resourceVersion = patch.metadata.resourceVersion;
    }
    this.#checkLock(old, draft);
    draft.status = { ...draft.status, ...patch.status };
    if (typeof draft.status.phase !== 'string') throw new Refused('422 status.phase: Required value');
    for (const condition of draft.status.conditions) {
      if (!/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(condition.reason as string)) {
        throw new Refused('422 reason');
      }
      if (typeof condition.lastTransitionTime !== 'string') throw new Refused('422 lastTransitionTime');
    }
    return this.#put('gang', key, draft);
  }

  gang(key: string): GangRecord | undefined {
    const object = this.objects.gang.get(key);
    return object && gangOf(object);
  }

  pods(): PodRecord[] {
    return [...this.objects.pod.values()].map(podOf);
  }

  #get(kind: Kind, key: string): JsonObject {
    const object = this.objects[kind].get(key);
    if (object === undefined) throw new Refused('404');
    return object;
  }

  #checkLock(old: JsonObject, draft: Draft): void {
    if (draft.metadata.resourceVersion !== (old['metadata'] as Draft).resourceVersion) {
      throw new Refused('409');
    }
  }

  #bumpGeneration(old: JsonObject, draft: Draft): void {
    if (JSON.stringify(old['spec']) !== JSON.stringify(draft.spec)) draft.metadata.generation += 1;
  }

  #put(kind: Kind, key: string, draft: Draft): JsonObject {
    this.#revision += 1;
    draft.metadata.resourceVersion = String(this.#revision);
    const object = draft as JsonObject;
    this.objects[kind].set(key, object);
    this.log.push({ kind, key, object });
    return object;
  }
}

export const keyOf = (object: JsonObject): string => {
  const metadata = object['metadata'] as { namespace: string; name: string };
  return `${metadata.namespace}/${metadata.name}`;
};

/** Stored objects are never changed, so each is read once. */
function once<T>(read: (object: JsonObject) => T): (object: JsonObject) => T {
  const known = new WeakMap<JsonObject, T>();
  return (object) => {
    const found = known.get(object) ?? read(object);
    known.set(object, found);
    return found;
  };
}
export const gangOf = once(readGang);
export const podOf = once(readPod);
export const revisionOf = (object: Json | undefined): number =>
  Number((object as Draft)?.metadata?.resourceVersion ?? 0);
