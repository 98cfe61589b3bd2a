import { isDeepStrictEqual } from 'node:util';
import { own, ownList, ownObject, ownString, type JsonObject } from '../../api/json.ts';
import { LABEL_MANAGED_BY, MANAGED_BY_MUSTER, POD_GANG_KIND } from '../../api/names.ts';
import type { Resource } from '../../api/resource.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { apiVersionOf } from '../../kube/client/resources.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import { thrownBy } from '../../kube/loop/deadline.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';

/** An object that some backend keeps for a gang: as the API server has it, apart from `managedFields`. */
export interface OwnedRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: JsonObject;
}

export interface OwnedObserver {
  /** Something happened that a backend may have to put right: not a mere change of status. */
  changed(gang: string): void;
  /** The scheduler says something else. */
  said(gang: string): void;
}

const BY_GANG = 'gang';

/** The kinds that backends keep, each watched from the moment on which its backend is ready. */
export class OwnedObjects {
  readonly #client: KubeClient;
  readonly #observe: (resource: Resource) => ReflectorObserver;
  readonly #observer: OwnedObserver;
  readonly #kinds = new Map<string, Reflector<OwnedRecord>>();

  constructor(
    client: KubeClient,
    observe: (resource: Resource) => ReflectorObserver,
    observer: OwnedObserver,
  ) {
    this.#client = client;
    this.#observe = observe;
    this.#observer = observer;
  }

  /** Begins to watch a kind, once. */
  watch(resource: Resource): void {
    if (this.#kinds.has(idOf(resource))) return;
    const reflector = new Reflector<OwnedRecord>({
      client: this.#client,
      resource,
      labelSelector: `${LABEL_MANAGED_BY}=${MANAGED_BY_MUSTER}`,
      trim: (object) => readOwned(object as unknown as JsonObject),
      indexers: { [BY_GANG]: ({ object }) => gangOf(object) },
      observer: this.#observe(resource),
    });
    reflector.subscribe(({ old, new: now }) => {
      const deeds = old === undefined || now === undefined || !sameButStatus(old.object, now.object);
      for (const gang of new Set([old, now].map((record) => record && gangOf(record.object)))) {
        if (gang === undefined) continue;
        if (deeds) this.#observer.changed(gang);
        this.#observer.said(gang);
      }
    });
    this.#kinds.set(idOf(resource), reflector);
    reflector.start();
  }

  /** A gang's objects of one kind; undefined while the kind was not listed yet. */
  of(resource: Resource, namespace: string, gang: string): readonly JsonObject[] | undefined {
    const reflector = this.#kinds.get(idOf(resource));
    if (reflector?.hasSynced !== true) return undefined;
    return reflector.store.byIndex(BY_GANG, keyOf(namespace, gang)).map(({ object }) => object);
  }

  get(resource: Resource, namespace: string, name: string): JsonObject | undefined {
    return this.#kinds.get(idOf(resource))?.store.get(namespace, name)?.object;
  }

  /** Resolves once the kinds were listed. @throws when stopped before, or when `signal` is aborted */
  async whenSynced(resources: readonly Resource[], signal: AbortSignal): Promise<void> {
    const kinds = resources.flatMap((resource) => this.#kinds.get(idOf(resource)) ?? []);
    const synced = Promise.all(kinds.map((reflector) => reflector.whenSynced()));
    await Promise.race([synced, thrownBy(signal)]);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#kinds.values()].map((reflector) => reflector.stop()));
  }
}

const idOf = (resource: Resource): string => `${apiVersionOf(resource)}/${resource.plural}`;

function readOwned(object: JsonObject): OwnedRecord {
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

/** The PodGang that controls an object, by the reference in it. */
export function controllerOf(object: JsonObject): { kind: string; name: string; uid: string } | undefined {
  const references = ownList(ownObject(object, 'metadata'), 'ownerReferences') ?? [];
  const found = references.find((reference) => own(reference, 'controller') === true);
  if (found === undefined) return undefined;
  return {
    kind: ownString(found, 'kind') ?? '',
    name: ownString(found, 'name') ?? '',
    uid: ownString(found, 'uid') ?? '',
  };
}

function gangOf(object: JsonObject): string | undefined {
  const owner = controllerOf(object);
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
