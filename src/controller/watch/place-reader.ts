import { ANNOTATION_SCHEDULER_NAME, LABEL_SCHEDULER_NAME } from '../../api/names.ts';
import { own, ownString, type JsonObject } from '../../json/json.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import type { NamedBackend, Place, GangLookup } from '../../backends/select.ts';
import { messageOf, TryLater } from '../../errors.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { NAMESPACES, POD_GANGS } from '../../kube/client/resources.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import { within } from '../../kube/loop/deadline.ts';
import { BY_GANG, type GangView } from './gang-view.ts';

/**
 * How long a caller waits, and how long one read may take (ms). A caller that joins a read that began earlier may need
 * two reads.
 */
const WAIT_MS = 1_000;
const READ_MS = 450;
/** The part of a review's deadline (ms) that is reserved for sending its answer. */
const ANSWER_MS = 50;
/** Concurrent reads in total and per Namespace: one Namespace's unknown gangs cannot use all of them. */
const MAX_READS = 64;
const MAX_READS_OF_NAMESPACE = 16;

export interface PlaceReaderOptions {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly view: Pick<GangView, 'gangs' | 'namespaces' | 'pods'>;
  /** Aborted when the controller stops. */
  readonly signal: AbortSignal;
}

/**
 * Looks up the backends of Pods and gangs in the caches, and reads the cluster for objects that the caches do not have
 * yet.
 */
export function placementOf({ client, view, signal }: PlaceReaderOptions): GangLookup {
  const ofGang = (namespace: string, gang: string): NamedBackend | undefined => {
    const record = view.gangs.get(namespace, gang);
    return record && (record.labels.get(LABEL_SCHEDULER_NAME) ?? null);
  };
  const ofNamespace = (namespace: string): NamedBackend | undefined => {
    const record = view.namespaces.get('', namespace);
    return record && (record.annotations.get(ANNOTATION_SCHEDULER_NAME) ?? null);
  };
  const classOfGang = (namespace: string, gang: string): string | null | undefined => {
    const record = view.gangs.get(namespace, gang);
    return record && (record.spec.priorityClassName || null);
  };
  const hasPods = (namespace: string, gang: string): boolean =>
    view.pods.hasAny(BY_GANG, keyOf(namespace, gang));
  const reads = new Reads();

  const readGang = async (namespace: string, name: string): Promise<Found | undefined> => {
    const options = { signal, timeoutMs: READ_MS, unlimited: true };
    try {
      const found = await client.get({ resource: POD_GANGS, namespace, name }, options);
      return {
        named: ownString(own(own(found, 'metadata'), 'labels'), LABEL_SCHEDULER_NAME) ?? null,
        priorityClass: ownString(own(found, 'spec'), 'priorityClassName') || null,
        gang: parsePodGang(found as unknown as JsonObject, namespace).gang,
      };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  // A list by name needs only the right that the watch has as well.
  const readNamespace = async (name: string): Promise<Found | undefined> => {
    const fieldSelector = `metadata.name=${name}`;
    const options = { fieldSelector, limit: 1, signal, timeoutMs: READ_MS, unlimited: true };
    const [found] = (await client.list(NAMESPACES, options)).items;
    if (found === undefined) return undefined;
    return {
      named: ownString(own(own(found, 'metadata'), 'annotations'), ANNOTATION_SCHEDULER_NAME) ?? null,
      priorityClass: null,
    };
  };

  const read = async ({ namespace, gang }: Place, withinMs: number): Promise<GangLookup> => {
    const ms = Math.max(1, Math.min(WAIT_MS, withinMs - ANSWER_MS));
    const what = gang === undefined ? `Namespace ${namespace}` : `PodGang ${keyOf(namespace, gang)}`;
    const known = ofNamespace(namespace);
    try {
      const [gangs, namespaces] = await within(what, ms, signal, () =>
        Promise.all([
          gang === undefined
            ? undefined
            : reads.read(namespace, `gang ${gang}`, () => readGang(namespace, gang)),
          known === undefined
            ? reads.read(namespace, 'itself', () => readNamespace(namespace))
            : { named: known, priorityClass: null },
        ]),
      );
      return {
        ofGang: () => gangs?.named ?? null,
        ofNamespace: () => namespaces?.named ?? null,
        classOfGang: () => gangs?.priorityClass ?? null,
        gang: () => gangs?.gang ?? null,
        hasPods,
      };
    } catch (error) {
      throw new TryLater(
        'gang-unread',
        `${what} is not known yet and could not be read: ${messageOf(error)}`,
      );
    }
  };
  const gang = (namespace: string, name: string): PodGang | undefined => view.gangs.get(namespace, name);
  return { ofGang, ofNamespace, classOfGang, gang, hasPods, read };
}

/** The result of reading a PodGang or a Namespace. */
interface Found {
  /** The backend that the object names. */
  readonly named: NamedBackend;
  /** Set for a PodGang only. */
  readonly priorityClass: string | null;
  /** The object itself, when it is a PodGang. */
  readonly gang?: PodGang;
}

/** Reads with a concurrency limit; callers that ask for the same object at the same time share one read. */
class Reads {
  readonly #running = new Map<string, Promise<Found | undefined>>();
  readonly #ofNamespace = new Map<string, number>();

  /** @throws Error when too many reads are in progress; any error of `work` */
  async read(
    namespace: string,
    name: string,
    work: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    const key = `${namespace}/${name}`;
    const earlier = this.#running.get(key);
    if (earlier !== undefined) {
      const found = await earlier;
      // A read that began before this call may have missed an object that was created in between.
      if (found !== undefined) return found;
    }
    return this.#running.get(key) ?? this.#begin(namespace, key, work);
  }

  #begin(namespace: string, key: string, work: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const mine = this.#ofNamespace.get(namespace) ?? 0;
    if (this.#running.size >= MAX_READS || mine >= MAX_READS_OF_NAMESPACE) {
      throw new Error('too many are being read');
    }
    this.#ofNamespace.set(namespace, mine + 1);
    const running = work().finally(() => {
      this.#running.delete(key);
      const left = (this.#ofNamespace.get(namespace) ?? 1) - 1;
      if (left === 0) this.#ofNamespace.delete(namespace);
      else this.#ofNamespace.set(namespace, left);
    });
    this.#running.set(key, running);
    return running;
  }
}
