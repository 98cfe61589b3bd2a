import type { JsonObject } from '../../src/json/json.ts';
import type { OwnedObject, SyncContext } from '../../src/backends/cluster.ts';

/** A context that keeps what a backend does, over what it is told there is. */
export interface RecordedSync {
  readonly context: SyncContext;
  readonly applied: OwnedObject[];
  readonly removed: {
    readonly plural: string;
    readonly name: string;
    readonly despite?: readonly string[];
  }[];
  readonly warnings: string[];
}

/** @param given what the backend is to see; `owned` is asked with the plural of the kind */
export function recordedSync(
  given: {
    readonly pods?: SyncContext['pods'];
    readonly owned?: (plural: string) => readonly JsonObject[];
    readonly read?: NonNullable<SyncContext['read']>;
  } = {},
): RecordedSync {
  const applied: OwnedObject[] = [];
  const removed: RecordedSync['removed'] = [];
  const warnings: string[] = [];
  const context: SyncContext = {
    signal: new AbortController().signal,
    pods: given.pods ?? [],
    owned: ({ plural }) => given.owned?.(plural) ?? [],
    apply: (object) => {
      applied.push(object);
      return Promise.resolve('created');
    },
    remove: ({ plural }, name, despite) => {
      removed.push({ plural, name, ...(despite && { despite }) });
      return Promise.resolve();
    },
    ...(given.read && { read: given.read }),
    warn: (message) => void warnings.push(message),
  };
  return { context, applied, removed, warnings };
}
