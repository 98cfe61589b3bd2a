import type { PodGang } from '../../api/pod-gang.ts';
import type { GangRecord } from '../../gang/records.ts';

interface Synced {
  readonly uid: string;
  readonly backend: string;
  readonly digest: string;
  /** Why it did not work out; undefined where it did. */
  readonly failure: string | undefined;
}

/** Whether a gang's objects are as its backend wants them, by what this process has done itself. */
export type SyncResult =
  { readonly done: true } | { readonly done: false; readonly failure: string | undefined };

const NOT_YET: SyncResult = { done: false, failure: undefined };

/** What became of `syncPodGang`, gang by gang. Begins empty: after a restart every gang is looked at once. */
export class SyncMemory {
  readonly #gangs = new Map<string, Synced>();

  record(key: string, gang: GangRecord, backend: string, failure?: string): void {
    this.#gangs.set(key, { uid: gang.uid, backend, digest: digestOf(gang), failure });
  }

  of(key: string, gang: GangRecord, backend: string): SyncResult {
    const found = this.#gangs.get(key);
    if (found?.uid !== gang.uid || found.backend !== backend) return NOT_YET;
    if (found.failure !== undefined) return { done: false, failure: found.failure };
    return found.digest === digestOf(gang) ? { done: true } : NOT_YET;
  }

  /** Somebody touched the gang's objects, or the gang is gone. */
  forget(key: string): void {
    this.#gangs.delete(key);
  }

  clear(): void {
    this.#gangs.clear();
  }
}

const digests = new WeakMap<PodGang, string>();

/** All that a backend may go by: labels, annotations and the spec apart from the references, which it is no concern of. */
export function digestOf(gang: PodGang): string {
  let digest = digests.get(gang);
  if (digest === undefined) {
    const { spec, labels, annotations } = gang;
    const groups = spec.groups.map((group) => ({ ...group, podReferences: undefined }));
    const sorted = (map: ReadonlyMap<string, string>): unknown =>
      [...map].sort(([a], [b]) => (a < b ? -1 : 1));
    digest = JSON.stringify([sorted(labels), sorted(annotations), { ...spec, groups }]);
    digests.set(gang, digest);
  }
  return digest;
}
