import jsonPatch, { type Operation } from 'fast-json-patch';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import { readGangRecord, readPodRecord } from '../../../../src/gang/read-records.ts';

/** A stored object, Pod or PodGang, as a test speaks of it: what the one kind lacks is never asked of it. */
export interface Draft {
  metadata: {
    namespace: string;
    name: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    creationTimestamp: string;
    deletionTimestamp?: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
  };
  spec: {
    podgroups: { name: string; minReplicas: number; podReferences: { namespace: string; name: string }[] }[];
    schedulingGates: { name: string }[];
    nodeName?: string;
    schedulerName?: string;
  };
  status?: { phase: string; conditions?: DraftCondition[] };
}

export interface DraftCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** What a test creates: the store fills in the rest. */
export interface Creation {
  metadata: Partial<Draft['metadata']>;
  spec: Partial<Draft['spec']> & { unknownField?: unknown };
  status?: Draft['status'] & { placementScore?: number };
}

export type Kind = 'gang' | 'pod';

export interface LogEntry {
  readonly kind: Kind;
  readonly key: string;
  readonly object: JsonObject | undefined;
}

/** Not structuredClone: under Jest its objects are of another realm, so that no deep comparison holds. */
const copy = (value: unknown): Draft => JSON.parse(JSON.stringify(value)) as Draft;
export const draftOf = (object: JsonObject): Draft => object as unknown as Draft;
const stored = (draft: Draft): JsonObject => draft as unknown as JsonObject;

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

  create(kind: Kind, creation: Creation): void {
    const draft = copy(creation);
    this.#uids += 1;
    draft.metadata = {
      ...draft.metadata,
      uid: `uid-${this.#uids}`,
      generation: 1,
      creationTimestamp: this.time(),
    };
    this.#put(kind, keyOf(draft), draft);
  }

  /** Changes an object as somebody else than the loop does. */
  edit(kind: Kind, key: string, change: (draft: Draft) => void): void {
    const old = this.objects[kind].get(key);
    if (old === undefined) return;
    const draft = copy(old);
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
      draft = jsonPatch.applyPatch(copy(old), operations as Operation[], true).newDocument;
    } catch (error) {
      throw new Refused(`422 ${String((error as Error).name)}`, { cause: error });
    }
    this.#checkLock(old, draft);
    const { status } = draftOf(old);
    if (status !== undefined) draft.status = status;
    this.#bumpGeneration(old, draft);
    return this.#put(kind, key, draft);
  }

  /** A merge patch of the status of a PodGang, with what the schema of the CRD asks of it. */
  mergeStatus(key: string, patch: Partial<Pick<Draft, 'metadata' | 'status'>>): JsonObject {
    const old = this.#get('gang', key);
    const draft = copy(old);
    if (patch.metadata?.uid !== undefined && patch.metadata.uid !== draft.metadata.uid) {
      throw new Refused('409 uid');
    }
    if (patch.metadata?.resourceVersion !== undefined) {
      draft.metadata.resourceVersion = patch.metadata.resourceVersion;
    }
    this.#checkLock(old, draft);
    const status = { ...draft.status, ...patch.status };
    if (typeof status.phase !== 'string') throw new Refused('422 status.phase: Required value');
    for (const condition of status.conditions ?? []) {
      if (!/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(condition.reason ?? '')) {
        throw new Refused('422 reason');
      }
      if (typeof condition.lastTransitionTime !== 'string') throw new Refused('422 lastTransitionTime');
    }
    draft.status = { ...status, phase: status.phase };
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
    if (draft.metadata.resourceVersion !== draftOf(old).metadata.resourceVersion) {
      throw new Refused('409');
    }
  }

  #bumpGeneration(old: JsonObject, draft: Draft): void {
    if (JSON.stringify(old['spec']) !== JSON.stringify(draft.spec)) draft.metadata.generation += 1;
  }

  #put(kind: Kind, key: string, draft: Draft): JsonObject {
    this.#revision += 1;
    draft.metadata.resourceVersion = String(this.#revision);
    const object = stored(draft);
    this.objects[kind].set(key, object);
    this.log.push({ kind, key, object });
    return object;
  }
}

export const keyOf = ({ metadata }: Draft): string => `${metadata.namespace}/${metadata.name}`;

/** Stored objects are never changed, so each is read once. */
function once<T>(read: (object: JsonObject) => T): (object: JsonObject) => T {
  const known = new WeakMap<JsonObject, T>();
  return (object) => {
    const found = known.get(object) ?? read(object);
    known.set(object, found);
    return found;
  };
}
export const gangOf = once(readGangRecord);
export const podOf = once(readPodRecord);
export const revisionOf = (object: JsonObject): number => Number(draftOf(object).metadata.resourceVersion);
