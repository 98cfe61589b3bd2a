import type { JsonObject } from '../api/json.ts';
import type { Resource } from '../api/resource.ts';
import { GangObjects } from '../controller/scheduler-objects/gang-objects.ts';
import type { Backend } from '../backends/backend.ts';
import type { OwnedObject, SyncContext } from '../backends/cluster.ts';
import type { MemoryCluster } from './memory-cluster.ts';
import type { StoredGang } from './sample-gangs.ts';
import { settled } from './settled.ts';

/** The hands that the loop gives a backend, over the cluster of the kit: the same code writes. */
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

/** @returns what it applied @throws what it throws, and where it does not end */
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
