import { isDeepStrictEqual } from 'node:util';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { LABEL_MANAGED_BY, MANAGED_BY_MUSTER, POD_GANG_API_VERSION, POD_GANG_KIND } from '../../api/names.ts';
import type { GangRecord } from '../../gang/records.ts';
import { groupVersionString, type Resource } from '../../k8s/resource.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject, Target } from '../../kube/client/resources.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import { unlessAborted } from '../../kube/loop/deadline.ts';
import type { CacheMemory } from '../../kube/loop/cache-memory.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';

/** An object that a backend keeps for a gang, as the API server has it, without `managedFields`. */
export interface OwnedRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: JsonObject;
}

export interface OwnedObserver {
  /** Called for a change that a backend may have to revert; not for a change of the status alone. */
  changed(gang: string): void;
  /** Called when the scheduler changed the status. */
  said(gang: string): void;
}

const BY_GANG = 'gang';

/** A write of Muster's that the watch has not shown yet. */
interface Echo {
  /** The resourceVersion that the write produced; undefined while the write is in progress. */
  version: string | undefined;
  /** Events that arrived during the write: the affected gangs by resourceVersion. */
  readonly held: Map<string, readonly string[]>;
  /** The object that the write has created, until the watch shows any version of it. */
  created?: JsonObject | undefined;
}

/** Caches the kinds that backends keep; each kind is watched from when its backend is first ready. */
export class OwnedObjects {
  readonly #client: KubeClient;
  readonly #observe: (resource: Resource) => ReflectorObserver;
  readonly #observer: OwnedObserver;
  readonly #kinds = new Map<string, Reflector<OwnedRecord>>();
  readonly #echoes = new Map<string, Echo>();
  readonly #room: CacheMemory | undefined;

  constructor(
    client: KubeClient,
    observe: (resource: Resource) => ReflectorObserver,
    { room, ...observer }: OwnedObserver & { readonly room?: CacheMemory },
  ) {
    this.#client = client;
    this.#observe = observe;
    this.#observer = observer;
    this.#room = room;
  }

  /** Starts the watch of a kind, once. */
  watch(resource: Resource): void {
    if (this.#kinds.has(idOf(resource))) return;
    const observer = this.#observe(resource);
    const reflector = new Reflector<OwnedRecord>({
      client: this.#client,
      resource,
      labelSelector: `${LABEL_MANAGED_BY}=${MANAGED_BY_MUSTER}`,
      trim: (object) => readOwned(object as unknown as JsonObject),
      room: this.#room,
      indexers: { [BY_GANG]: ({ object }) => gangOf(object) },
      observer: {
        ...observer,
        listed: (count, ms) => {
          observer.listed?.(count, ms);
          this.#listed(resource);
        },
      },
    });
    reflector.subscribe(({ old, new: now }) => {
      const gangs = [...new Set([old, now].flatMap((record) => (record && gangOf(record.object)) ?? []))];
      const deeds = old === undefined || now === undefined || !sameButStatus(old.object, now.object);
      if (deeds && !this.#isEcho(resource, now, gangs)) this.#changed(gangs);
      for (const gang of gangs) this.#observer.said(gang);
    });
    this.#kinds.set(idOf(resource), reflector);
    reflector.start();
  }

  /** A gang's objects of one kind; undefined while the kind has not been listed yet. */
  of(resource: Resource, namespace: string, gang: string): readonly JsonObject[] | undefined {
    const reflector = this.#kinds.get(idOf(resource));
    if (reflector?.hasSynced !== true) return undefined;
    return reflector.store.byIndex(BY_GANG, keyOf(namespace, gang)).map(({ object }) => object);
  }

  /** The object as the watch shows it, or as Muster has just created it. */
  get(resource: Resource, namespace: string, name: string): JsonObject | undefined {
    const seen = this.#kinds.get(idOf(resource))?.store.get(namespace, name)?.object;
    if (seen !== undefined) return seen;
    return this.#echoes.get(echoKey(resource, namespace, name))?.created;
  }

  /** A gang's objects of all watched kinds other than these, in any version. */
  *besides(
    kinds: readonly Resource[],
    namespace: string,
    gang: string,
  ): Generator<{ resource: Resource; name: string; object: JsonObject }> {
    const kept = new Set(kinds.map(kindOf));
    for (const { resource, store, hasSynced } of this.#kinds.values()) {
      if (!hasSynced || kept.has(kindOf(resource))) continue;
      for (const { name, object } of store.byIndex(BY_GANG, keyOf(namespace, gang))) {
        yield { resource, name, object };
      }
    }
  }

  /**
   * Performs a write of Muster's. The event that the watch shows for it is not treated as a change that has to be
   * reverted.
   * @param created what is written, where it is a creation whose answer has only the metadata
   */
  async writing(target: Target, write: () => Promise<KubeObject>, created?: KubeObject): Promise<void> {
    if (!this.#kinds.has(idOf(target.resource))) return void (await write());
    const key = echoKey(target.resource, target.namespace ?? '', target.name);
    const echo: Echo = { version: undefined, held: new Map() };
    this.#echoes.set(key, echo);
    try {
      const { metadata } = await write();
      echo.version = metadata.resourceVersion;
      if (created !== undefined) {
        const object = { ...created, metadata: { ...created.metadata, ...metadata } };
        echo.created = object as unknown as JsonObject;
      }
    } finally {
      const seen = echo.version !== undefined && echo.held.delete(echo.version);
      if (echo.version === undefined || seen) this.#echoes.delete(key);
      for (const gangs of echo.held.values()) this.#changed(gangs);
    }
  }

  /** Whether an event shows Muster's own write. While the write is in progress this is not known, and the event is held. */
  #isEcho(resource: Resource, now: OwnedRecord | undefined, gangs: readonly string[]): boolean {
    if (now === undefined) return false;
    const key = echoKey(resource, now.namespace, now.name);
    const echo = this.#echoes.get(key);
    if (echo === undefined) return false;
    if (echo.version === undefined) {
      echo.held.set(now.resourceVersion, gangs);
      return true;
    }
    echo.created = undefined;
    if (echo.version !== now.resourceVersion) return false;
    this.#echoes.delete(key);
    return true;
  }

  /** An object that was created and is not in a list is gone unseen, or newer than the list: its gang is synced again. */
  #listed(resource: Resource): void {
    const prefix = `${kindOf(resource)} `;
    for (const [key, echo] of this.#echoes) {
      if (echo.created === undefined || !key.startsWith(prefix)) continue;
      const gang = gangOf(echo.created);
      echo.created = undefined;
      if (gang !== undefined) this.#changed([gang]);
    }
  }

  #changed(gangs: readonly string[]): void {
    for (const gang of gangs) this.#observer.changed(gang);
  }

  /** Resolves once the kinds were listed. @throws when the watch is stopped before, or when `signal` is aborted */
  async whenSynced(resources: readonly Resource[], signal: AbortSignal): Promise<void> {
    const kinds = resources.flatMap((resource) => this.#kinds.get(idOf(resource)) ?? []);
    if (kinds.every(({ hasSynced }) => hasSynced)) return;
    await unlessAborted(signal, Promise.all(kinds.map((reflector) => reflector.whenSynced())));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#kinds.values()].map((reflector) => reflector.stop()));
  }
}

const idOf = (resource: Resource): string => `${groupVersionString(resource)}/${resource.plural}`;
const kindOf = ({ group, plural }: Resource): string => `${group}/${plural}`;
const echoKey = (resource: Resource, namespace: string, name: string): string =>
  `${kindOf(resource)} ${keyOf(namespace, name)}`;

/** undefined for an object that no PodGang controls: anyone may set the label, so such an object is not Muster's. */
function readOwned(object: JsonObject): OwnedRecord | undefined {
  if (gangOf(object) === undefined) return undefined;
  const metadata = ownObject(object, 'metadata') ?? {};
  const kept = without(metadata, ['managedFields']);
  return {
    namespace: ownString(metadata, 'namespace') ?? '',
    name: ownString(metadata, 'name') ?? '',
    uid: ownString(metadata, 'uid') ?? '',
    resourceVersion: ownString(metadata, 'resourceVersion') ?? '',
    object: { ...object, metadata: kept },
  };
}

/** The controller reference of an object; undefined when it has none. */
export function controllerRefOf(object: JsonObject): { kind: string; name: string; uid: string } | undefined {
  const found = ownerReferencesOf(object).find((reference) => own(reference, 'controller') === true);
  if (found === undefined) return undefined;
  return {
    kind: ownString(found, 'kind') ?? '',
    name: ownString(found, 'name') ?? '',
    uid: ownString(found, 'uid') ?? '',
  };
}

function gangOf(object: JsonObject): string | undefined {
  const owner = controllerRefOf(object);
  if (owner?.kind !== POD_GANG_KIND) return undefined;
  return keyOf(ownString(ownObject(object, 'metadata'), 'namespace') ?? '', owner.name);
}

function sameButStatus(old: JsonObject, now: JsonObject): boolean {
  const deeds = (object: JsonObject): unknown => {
    const metadata = without(ownObject(object, 'metadata') ?? {}, ['resourceVersion', 'generation']);
    return { ...object, metadata, status: undefined };
  };
  return isDeepStrictEqual(deeds(old), deeds(now));
}

const without = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

export const ownerReferencesOf = (live: JsonObject): readonly Json[] =>
  ownList(ownObject(live, 'metadata'), 'ownerReferences') ?? [];

/** @returns the owner reference by which a PodGang controls a scheduler object */
export const ownerReference = ({ name, uid }: Pick<GangRecord, 'name' | 'uid'>): JsonObject => ({
  apiVersion: POD_GANG_API_VERSION,
  kind: POD_GANG_KIND,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});
