import { isObject, type JsonObject } from '../json/json.ts';
import { LABEL_POD_GANG } from '../api/names.ts';
import { groupVersionString } from '../k8s/resource.ts';
import { messageOf } from '../errors.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isForbidden, isNotFound } from '../kube/client/errors.ts';
import { PODS, SNAPSHOT_RESOURCES, type KubeObject, type Resource } from '../kube/client/resources.ts';
import type { Identified } from '../kube/loop/cache.ts';
import type { ReflectorOptions } from '../kube/loop/reflector-options.ts';
import { Reflector } from '../kube/loop/reflector.ts';
import { Watches } from '../kube/loop/watches.ts';
import { carefulSnapshot, type CarefulSnapshot } from '../preemption/read/read-snapshot.ts';
import { trimmed } from '../preemption/read/trim.ts';
import { compareText, namespacedKey, type Pod } from '../preemption/snapshot.ts';
import { KeptPodReader, type KeptPod } from './kept-pod.ts';

/** Milliseconds between two attempts to find out which versions of the unknown kinds are served. */
const AGAIN_MS = 10_000;

interface KeptObject extends Identified {
  readonly object: JsonObject;
}

/** The present state of the cluster, with the waiting Pods of one gang. */
export interface ClusterNow extends CarefulSnapshot {
  /** Pods of the gang that have no node. */
  readonly waiting: readonly Pod[];
  /**
   * API version of the native PodGroups that the cluster serves, such as `scheduling.k8s.io/v1beta1`; undefined where it
   * serves none.
   */
  readonly groupsOf: string | undefined;
}

const GANG = 'gang';

/** Watches all kinds that a plan depends on, and keeps only the fields that a plan reads. */
export class ClusterWatch {
  readonly #pods: Reflector<KeptPod>;
  readonly #reader = new KeptPodReader();
  #others: readonly Reflector<KeptObject>[];
  #watches: Watches;
  /** Kinds of which it is not known yet which version the API server serves. */
  #unknown: readonly (readonly Resource[])[] = [];
  #timer: NodeJS.Timeout | undefined;
  #groupsOf: string | undefined;
  readonly #failures = new Map<string, string>();

  private constructor(client: KubeClient, resources: readonly Resource[], changed: () => void) {
    this.#pods = new Reflector<KeptPod>({
      client,
      resource: PODS,
      trim: (object) => this.#reader.read(object),
      indexers: { [GANG]: (pod) => (pod.gang === '' ? undefined : namespacedKey(pod.namespace, pod.gang)) },
      observer: this.#observerOf(PODS, changed),
    });
    this.#others = resources
      .filter((resource) => resource !== PODS)
      .map((resource) => this.#reflect(client, resource, changed));
    this.#watches = new Watches([this.#pods, ...this.#others]);
  }

  #observerOf(
    { plural }: Resource,
    changed: () => void,
  ): NonNullable<ReflectorOptions<KeptObject>['observer']> {
    return {
      listed: () => {
        this.#failures.delete(plural);
        // The store counts as complete only after this callback has returned.
        setImmediate(changed);
      },
      failed: (error: unknown) => {
        this.#failures.set(plural, isForbidden(error) ? noRight(plural) : messageOf(error));
        changed();
      },
    };
  }

  #reflect(client: KubeClient, resource: Resource, changed: () => void): Reflector<KeptObject> {
    if (resource.kind === 'PodGroup') this.#groupsOf = groupVersionString(resource);
    const observer = this.#observerOf(resource, changed);
    return new Reflector<KeptObject>({
      client,
      resource,
      trim: (object) => kept(object, resource),
      observer,
    });
  }

  /**
   * Finds out which kinds the API server serves, and starts to watch them.
   * @param changed called whenever {@link missing} may have changed
   */
  static async start(client: KubeClient, changed: () => void, againMs = AGAIN_MS): Promise<ClusterWatch> {
    const first = await allServed(client);
    const watch = new ClusterWatch(client, first.served, changed);
    watch.#unknown = first.unknown;
    watch.#watches.start();
    watch.#askAgain(client, changed, againMs);
    return watch;
  }

  /** Asks again for the versions of kinds that Muster had no right to list, until all versions are known. */
  #askAgain(client: KubeClient, changed: () => void, againMs: number): void {
    if (this.#unknown.length === 0) return;
    this.#timer = setTimeout(() => {
      void allServed(client, this.#unknown).then(({ served, unknown }) => {
        if (this.#timer === undefined) return;
        this.#unknown = unknown;
        const more = served.map((resource) => this.#reflect(client, resource, changed));
        for (const one of more) one.start();
        this.#others = [...this.#others, ...more];
        this.#watches = new Watches([...this.#watches, ...more]);
        changed();
        this.#askAgain(client, changed, againMs);
      });
    }, againMs);
    this.#timer.unref();
  }

  /** Why no forecast can be made yet; undefined once every kind was listed. */
  get missing(): string | undefined {
    const unknown = this.#unknown.flatMap(([first]) => first?.plural ?? []);
    const missing = [...this.#watches.missing, ...unknown];
    if (missing.length === 0) return undefined;
    const why = [
      ...missing.flatMap((plural) => this.#failures.get(plural) ?? []),
      ...unknown.map((plural) => noRight(plural)),
    ];
    return why.length > 0 ? why.join('; ') : `not all is listed yet: ${missing.join(', ')}`;
  }

  /**
   * Builds the state of the cluster.
   * @param more objects of the dry run; a stored object of the same name takes precedence
   */
  now(more: readonly JsonObject[], gangKey: string): ClusterNow {
    const objects = this.#others.flatMap(({ store }) => Array.from(store.values(), ({ object }) => object));
    const read = carefulSnapshot([...more, ...objects]);
    const pods: Pod[] = [];
    const faults = [...read.faults];
    /** Nodes with an unreadable Pod: their free capacity is unknown. */
    const closed = new Set<string>();
    for (const pod of this.#pods.store.values()) {
      if (pod.nodeName === '') continue;
      for (const fault of pod.faults) faults.push(fault);
      if (pod.faults.length > 0) closed.add(pod.nodeName);
      pods.push(this.#reader.withVolumes(pod, read.context.claims));
    }
    pods.sort((a, b) => compareText(a.key, b.key));
    const waiting = this.#pods.store
      .byIndex(GANG, gangKey)
      .filter(({ nodeName, terminating }) => nodeName === '' && !terminating)
      .map((pod) => this.#reader.withVolumes(pod, read.context.claims));
    const nodes = read.snapshot.nodes.filter(({ name }) => !closed.has(name));
    const groupsOf = this.#groupsOf;
    return { ...read, snapshot: { ...read.snapshot, nodes, pods }, faults, waiting, groupsOf };
  }

  stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#watches.stop();
  }
}

/** The name of the gang in a Pod's label; `''` for a Pod without the label. */
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
    apiVersion: groupVersionString(resource),
    kind: resource.kind,
  };
  return { namespace, name, uid, resourceVersion, object: trimmed(whole) };
}

const noRight = (plural: string): string => `no right to list and watch ${plural}`;

/**
 * Returns the first served version of each kind, and the kinds that Muster may not list, so that their version is unknown.
 */
async function allServed(
  client: KubeClient,
  kinds: readonly (readonly Resource[])[] = SNAPSHOT_RESOURCES,
): Promise<{ readonly served: Resource[]; readonly unknown: (readonly Resource[])[] }> {
  const served: Resource[] = [];
  const unknown: (readonly Resource[])[] = [];
  for (const versions of kinds) {
    const found = await firstServed(client, versions);
    if (found === 'unknown') unknown.push(versions);
    else if (found !== undefined) served.push(found);
  }
  return { served, unknown };
}

async function firstServed(
  client: KubeClient,
  versions: readonly Resource[],
): Promise<Resource | 'unknown' | undefined> {
  if (versions.length === 1) return versions[0];
  for (const resource of versions) {
    try {
      await client.list(resource, { limit: 1 });
      return resource;
    } catch (error) {
      if (!isNotFound(error)) return 'unknown';
    }
  }
  return undefined;
}
