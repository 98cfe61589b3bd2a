import { isObject, type JsonObject } from '../api/json.ts';
import { LABEL_POD_GANG } from '../api/names.ts';
import { apiVersionOf } from '../api/resource.ts';
import { messageOf } from '../errors.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isForbidden, isNotFound } from '../kube/client/errors.ts';
import { PODS, type KubeObject, type Resource } from '../kube/client/resources.ts';
import { SNAPSHOT_RESOURCES } from '../kube/client/snapshot-resources.ts';
import type { Identified } from '../kube/loop/cache.ts';
import { Reflector } from '../kube/loop/reflector.ts';
import { Watches } from '../kube/loop/watches.ts';
import { readSnapshot, type ReadSnapshot } from '../preemption/read/read-snapshot.ts';
import { trimmed } from '../preemption/read/trim.ts';
import { compareText, keyOf, type Pod } from '../preemption/snapshot.ts';
import { PodReader, type KeptPod } from './kept-pod.ts';

interface KeptObject extends Identified {
  readonly object: JsonObject;
}

/** The cluster as it is now, and who waits in it. */
export interface ClusterNow extends ReadSnapshot {
  /** Pods of the gang without a node. */
  readonly waiting: readonly Pod[];
}

const GANG = 'gang';

/** Watches everything that a plan goes by, and keeps of it what a plan goes by. */
export class ClusterWatch {
  readonly #pods: Reflector<KeptPod>;
  readonly #reader = new PodReader();
  readonly #others: readonly Reflector<KeptObject>[];
  readonly #watches: Watches;
  readonly #failures = new Map<string, string>();

  private constructor(client: KubeClient, resources: readonly Resource[], changed: () => void) {
    const observerOf = ({ plural }: Resource) => ({
      listed: () => {
        this.#failures.delete(plural);
        // It counts as complete once the list is handed over.
        setImmediate(changed);
      },
      failed: (error: unknown) => {
        const reason = isForbidden(error) ? `no right to list and watch ${plural}` : messageOf(error);
        this.#failures.set(plural, reason);
        changed();
      },
    });
    this.#pods = new Reflector<KeptPod>({
      client,
      resource: PODS,
      trim: (object) => this.#reader.read(object),
      indexers: { [GANG]: (pod) => (pod.gang === '' ? undefined : keyOf(pod.namespace, pod.gang)) },
      observer: observerOf(PODS),
    });
    this.#others = resources
      .filter((resource) => resource !== PODS)
      .map(
        (resource) =>
          new Reflector<KeptObject>({
            client,
            resource,
            trim: (object) => kept(object, resource),
            observer: observerOf(resource),
          }),
      );
    this.#watches = new Watches([this.#pods, ...this.#others]);
  }

  /** Looks which kinds the API server knows, and starts. @param changed told whenever {@link missing} may have changed */
  static async start(client: KubeClient, changed: () => void): Promise<ClusterWatch> {
    const resources: Resource[] = [];
    for (const versions of SNAPSHOT_RESOURCES) {
      const served = await firstServed(client, versions);
      if (served !== undefined) resources.push(served);
    }
    const watch = new ClusterWatch(client, resources, changed);
    watch.#watches.start();
    return watch;
  }

  /** Why there is no forecast yet; undefined once everything was listed. */
  get missing(): string | undefined {
    if (this.#watches.hasSynced) return undefined;
    const { missing } = this.#watches;
    const why = missing.flatMap((plural) => this.#failures.get(plural) ?? []);
    return why.length > 0 ? why.join('; ') : `not all is listed yet: ${missing.join(', ')}`;
  }

  /** @param more what is only tried out: what is stored under the same name goes before it */
  now(more: readonly JsonObject[], gangKey: string): ClusterNow {
    const objects = this.#others.flatMap(({ store }) => Array.from(store.values(), ({ object }) => object));
    const read = readSnapshot([...more, ...objects]);
    const pods: Pod[] = [];
    const faults = [...read.faults];
    for (const pod of this.#pods.store.values()) {
      if (pod.nodeName === '') continue;
      for (const fault of pod.faults) faults.push(fault);
      pods.push(this.#reader.withVolumes(pod, read.context.claims));
    }
    pods.sort((a, b) => compareText(a.key, b.key));
    const waiting = this.#pods.store
      .byIndex(GANG, gangKey)
      .filter(({ nodeName, terminating }) => nodeName === '' && !terminating)
      .map((pod) => this.#reader.withVolumes(pod, read.context.claims));
    return { ...read, snapshot: { ...read.snapshot, pods }, faults, waiting };
  }

  stop(): Promise<void> {
    return this.#watches.stop();
  }
}

/** The gang that a Pod says it is of, `''` for one of none. */
export const gangOf = (object: JsonObject): string => {
  const { metadata } = object;
  const labels = isObject(metadata) ? metadata['labels'] : undefined;
  const name = isObject(labels) ? labels[LABEL_POD_GANG] : undefined;
  return typeof name === 'string' ? name : '';
};

function kept(object: KubeObject, resource: Resource): KeptObject {
  const { namespace = '', name, uid = '', resourceVersion = '' } = object.metadata;
  const whole = {
    ...(object as unknown as JsonObject),
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
  };
  return { namespace, name, uid, resourceVersion, object: trimmed(whole) };
}

async function firstServed(client: KubeClient, versions: readonly Resource[]): Promise<Resource | undefined> {
  if (versions.length === 1) return versions[0];
  for (const resource of versions) {
    try {
      await client.list(resource, { limit: 1 });
      return resource;
    } catch (error) {
      // Without the right the watch says so itself.
      if (!isNotFound(error)) return resource;
    }
  }
  return undefined;
}
