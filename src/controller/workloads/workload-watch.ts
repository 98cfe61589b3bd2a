import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../json/json.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import type { Resource } from '../../kube/client/resources.ts';
import type { CacheMemory } from '../../kube/loop/cache-memory.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';
import type { GangKind } from '../../workloads/kind.ts';
import { gangNumbers } from '../../workloads/gang-numbers.ts';
import type { WorkloadState, WorkloadRecord } from './plan-made-gang.ts';
import { keyOf } from '../../kube/loop/cache.ts';

interface Watched {
  readonly reflector: Reflector<WorkloadRecord>;
  unreadable: string | undefined;
}

export interface WorkloadWatchOptions {
  readonly client: KubeClient;
  readonly observe: (resource: Resource) => ReflectorObserver;
  readonly room?: CacheMemory | undefined;
  /** Called when the state of a workload became known or changed; without a name: the state of all workloads of the kind. */
  readonly changed: (kind: GangKind, namespace?: string, name?: string) => void;
}

/** Caches the workloads of gangs: each kind is watched from the first time that a Pod of that kind asks for a gang. */
export class WorkloadWatch {
  readonly #options: WorkloadWatchOptions;
  readonly #kinds = new Map<string, Watched>();

  constructor(options: WorkloadWatchOptions) {
    this.#options = options;
  }

  of(kind: GangKind, namespace: string, name: string): WorkloadState {
    const { reflector, unreadable } = this.#kinds.get(kind.short) ?? this.#watch(kind);
    if (unreadable !== undefined) return { unreadable };
    if (!reflector.hasSynced) return 'unknown';
    return reflector.store.get(namespace, name) ?? 'gone';
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#kinds.values()].map(({ reflector }) => reflector.stop()));
  }

  #watch(kind: GangKind): Watched {
    const { group, version, otherVersion, plural } = kind;
    const { client, observe, room, changed } = this.#options;
    // When the API server does not serve one version, the next attempt uses the other.
    const resource = { group, version, plural, kind: kind.kind, namespaced: true };
    const told = observe(resource);
    const readable = (why: string | undefined): void => {
      const before = watched.unreadable;
      watched.unreadable = why;
      if ((before === undefined) !== (why === undefined)) changed(kind);
    };
    const reflector = new Reflector<WorkloadRecord>({
      client,
      resource,
      room,
      trim: (object) => ({
        namespace: object.metadata.namespace ?? '',
        name: object.metadata.name,
        uid: object.metadata.uid ?? '',
        resourceVersion: object.metadata.resourceVersion ?? '',
        version: resource.version,
        numbers: gangNumbers(object as unknown as JsonObject, kind),
      }),
      observer: {
        ...told,
        listed: (count, ms) => {
          told.listed?.(count, ms);
          readable(undefined);
        },
        failed: (error, retryInMs) => {
          told.failed?.(error, retryInMs);
          // A 403 and a 404 last until somebody fixes them; other errors pass.
          if (isForbidden(error)) readable('Muster may not list them');
          else if (isNotFound(error)) {
            const isFirst = otherVersion !== undefined && resource.version === version;
            resource.version = isFirst ? otherVersion : version;
            if (!isFirst) readable('the API server does not have them');
          }
        },
      },
    });
    const watched: Watched = { reflector, unreadable: undefined };
    this.#kinds.set(kind.short, watched);
    reflector.subscribe(({ old, new: now }) => {
      const { namespace, name } = now ?? old;
      // Most changes concern the status, and do not change the gang.
      const same = old?.uid === now?.uid && isDeepStrictEqual(old?.numbers, now?.numbers);
      if (!same) changed(kind, namespace, name);
    });
    void reflector.whenSynced().then(
      () => changed(kind),
      () => undefined,
    );
    reflector.start();
    return watched;
  }
}

/** Maps each workload to the gangs that were made, or are to be made, from it. */
export class GangsByWorkload {
  /** By kind, then by the workload's `namespace/name`. */
  readonly #gangs = new Map<string, Map<string, Set<string>>>();
  readonly #workloads = new Map<string, { readonly kind: string; readonly workload: string }>();

  remember(gang: string, { short }: GangKind, namespace: string, name: string): void {
    const workload = keyOf(namespace, name);
    this.#gangs.getOrInsert(short, new Map()).getOrInsert(workload, new Set()).add(gang);
    this.#workloads.set(gang, { kind: short, workload });
  }

  forget(gang: string): void {
    const known = this.#workloads.get(gang);
    if (known === undefined) return;
    const ofKind = this.#gangs.get(known.kind);
    const gangs = ofKind?.get(known.workload);
    gangs?.delete(gang);
    if (gangs?.size === 0) ofKind?.delete(known.workload);
    this.#workloads.delete(gang);
  }

  /** @param namespace absent: the gangs of all workloads of the kind */
  *gangsOf({ short }: GangKind, namespace?: string, name = ''): Generator<string, void> {
    const ofKind = this.#gangs.get(short);
    if (ofKind === undefined) return;
    if (namespace !== undefined) return yield* ofKind.get(keyOf(namespace, name)) ?? [];
    for (const gangs of ofKind.values()) yield* gangs;
  }
}
