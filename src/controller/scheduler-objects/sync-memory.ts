import { hash } from 'node:crypto';
import type { PodGang } from '../../api/pod-gang.ts';
import type { Backend } from '../../backends/backend.ts';
import { isBound, mayRun } from '../../gang/plan/census.ts';
import type { GangRecord, PodRecord, BackendState } from '../../gang/records.ts';
import { keyOf, type ObjectChange } from '../../kube/loop/cache.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { OwnedObjects } from './owned-objects.ts';

/** The fields of a backend that decide when a gang has to be synced. */
type By = Pick<Backend, 'name' | 'followsReferences'>;

interface Synced {
  readonly uid: string;
  readonly backend: string;
  readonly digest: string;
  /** Why the sync failed; undefined when it succeeded. */
  readonly failure: string | undefined;
}

/** Whether a gang's objects match what its backend wants, judged by this process's own syncs. */
export type SyncResult =
  { readonly done: true } | { readonly done: false; readonly failure: string | undefined };

const NOT_YET: SyncResult = { done: false, failure: undefined };

/** The result of `syncPodGang` for each gang. Starts empty: after a restart every gang is synced once. */
export class SyncMemory {
  readonly #gangs = new Map<string, Synced>();
  /** Gangs whose sync is in progress and that were not forgotten since it began. */
  readonly #begun = new Set<string>();

  begin(key: string): void {
    this.#begun.add(key);
  }

  /**
   * Records the result of a sync. If the gang was forgotten meanwhile, a success is discarded and the gang is synced
   * again.
   */
  record(key: string, gang: GangRecord, backend: By, failure?: string): void {
    const current = this.#begun.delete(key);
    const { name } = backend;
    if (current || failure !== undefined)
      this.#gangs.set(key, { uid: gang.uid, backend: name, digest: digestOf(gang, backend), failure });
  }

  of(key: string, gang: GangRecord, backend: By): SyncResult {
    const found = this.#gangs.get(key);
    if (found?.uid !== gang.uid || found.backend !== backend.name) return NOT_YET;
    if (found.failure !== undefined) return { done: false, failure: found.failure };
    return found.digest === digestOf(gang, backend) ? { done: true } : NOT_YET;
  }

  /** Called when the gang's objects were changed by others, or when the gang is gone. */
  forget(key: string): void {
    this.#gangs.delete(key);
    this.#begun.delete(key);
  }

  clear(): void {
    this.#gangs.clear();
    this.#begun.clear();
  }
}

/** Cached digests, by whether they include the Pod references. */
const digests = { true: new WeakMap<PodGang, string>(), false: new WeakMap<PodGang, string>() };

/**
 * A digest of the fields that a backend depends on: labels, annotations and spec; Pod references only if it follows
 * them.
 */
export function digestOf(gang: PodGang, backend: Omit<By, 'name'>): string {
  const follows = backend.followsReferences?.(gang) === true;
  const known = digests[`${follows}`];
  let digest = known.get(gang);
  if (digest === undefined) {
    const { spec, labels, annotations } = gang;
    const groups = follows
      ? spec.groups
      : spec.groups.map((group) => ({ ...group, podReferences: undefined }));
    const sorted = (map: ReadonlyMap<string, string>): unknown =>
      [...map].sort(([a], [b]) => (a < b ? -1 : 1));
    const all = JSON.stringify([sorted(labels), sorted(annotations), { ...spec, groups }]);
    digest = hash('sha256', all, 'base64');
    known.set(gang, digest);
  }
  return digest;
}

/** Counts the bound Pods of each gang; calls back when a gang's first Pod is bound and when none is bound any more. */
export class Bindings {
  readonly #turned: (gang: string) => void;
  readonly #counts = new Map<string, number>();

  constructor(turned: (gang: string) => void) {
    this.#turned = turned;
  }

  observe({ old, new: now }: ObjectChange<PodRecord>): void {
    const [before, after] = [boundTo(old), boundTo(now)];
    if (before === after) return;
    if (before !== undefined) this.#add(before, -1);
    if (after !== undefined) this.#add(after, 1);
  }

  #add(gang: string, by: 1 | -1): void {
    const count = (this.#counts.get(gang) ?? 0) + by;
    if (count > 0) this.#counts.set(gang, count);
    else this.#counts.delete(gang);
    if (count === 0 || (count === 1 && by === 1)) this.#turned(gang);
  }
}

/** The gang of a bound Pod. */
const boundTo = (pod: PodRecord | undefined): string | undefined =>
  pod !== undefined && isBound(pod) && mayRun(pod) ? keyOf(pod.namespace, pod.gang) : undefined;

/** The gang that gained or lost a Pod that may run. */
export function comesOrGoes({ old, new: now }: ObjectChange<PodRecord>): string | undefined {
  const counts = (pod: PodRecord | undefined): boolean => pod !== undefined && mayRun(pod);
  const pod = now ?? old;
  return pod === undefined || counts(old) === counts(now) ? undefined : keyOf(pod.namespace, pod.gang);
}

interface Known {
  readonly registry: Pick<BackendRegistry, 'readiness' | 'owned'>;
  readonly owned: Pick<OwnedObjects, 'of'>;
  readonly synced: SyncResult;
}

/** The state of a gang's backend, as input of the gang's judgement. */
export function backendState(
  gang: GangRecord,
  backend: Backend,
  { registry, owned, synced }: Known,
): BackendState {
  const readiness = registry.readiness(backend.name);
  const releaseOrder = backend.releaseOrder?.(gang) ?? 'all-at-once';
  const countsEnding = backend.countsEnding?.(gang) ?? false;
  const schedulerName = backend.schedulerName || undefined;
  const common = { name: backend.name, schedulerName, releaseOrder, countsEnding };
  if (readiness.state !== 'ready') {
    const reason = readiness.state === 'failed' ? readiness.reason : 'it has not looked at the cluster yet';
    return { ...common, ready: false, reason, objectsExist: false };
  }
  const objects = registry
    .owned(backend.name)
    .flatMap((kind) => owned.of(kind, gang.namespace, gang.name) ?? []);
  return {
    ...common,
    ready: true,
    objectsExist: synced.done,
    ...(!synced.done && synced.failure !== undefined && { objectsWait: synced.failure }),
    schedulerMessage: objects.length === 0 ? undefined : backend.explain?.(objects),
  };
}
