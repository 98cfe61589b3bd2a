import {
  referencesPatch,
  statusPatch,
  ungatePatch,
  type Ungate,
  type ReferencesWrite,
  type StatusWrite,
} from '../../gang/plan/gang-plan.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import { readGangRecord } from '../../gang/read-records.ts';
import type { JsonObject } from '../../json/json.ts';
import { LABEL_POD_GANG } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isConflict, isInvalid, isNotFound } from '../../kube/client/errors.ts';
import { POD_GANGS, PODS } from '../../kube/client/resources.ts';
import { readMemberPod } from '../watch/gang-view.ts';
import { MOST_CALLS } from '../../kube/loop/call-window.ts';
import { listPages } from '../../kube/loop/list-pages.ts';
import type { GangKind } from '../../workloads/kind.ts';

/** Up to this many Pods are read by name; for more, all Pods of the gang are listed, which bounds the cost of many names. */
const READ_BY_NAME = 8;
/** Pods per page of a list: they are read whole, at some kilobytes each. */
const PAGE = 100;

/** Thrown when an object was changed since it was read. Not a fault: the gang is judged again. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

/** The writes of one gang. Each is conditional on what was read, and may be repeated. */
export interface GangWriter {
  /** @returns the gang after the write; undefined when it is gone. @throws {Outdated} */
  references(name: GangName, write: ReferencesWrite): Promise<GangRecord | undefined>;
  status(name: GangName, write: StatusWrite): Promise<GangRecord | undefined>;
  /** Reads the gang from the API server. */
  fresh(name: GangName): Promise<GangRecord | undefined>;
  /** Reads those of the gang's Pods that have one of these names from the API server. */
  freshPods(gang: GangName, names: readonly string[]): Promise<PodRecord[]>;
  /**
   * Takes gates off. `done` is called for each Pod whose gate is off, or that is gone.
   * @throws the first failure, after the calls in progress have ended
   */
  ungate(ungates: readonly Ungate[], done: (ungate: Ungate) => void): Promise<void>;
}

export interface GangName {
  readonly namespace: string;
  readonly name: string;
}

/** @param kinds kinds of workload whose Pods may ask for a gang; default: the built-in kinds */
export function gangWriter(client: KubeClient, signal: AbortSignal, kinds?: readonly GangKind[]): GangWriter {
  const target = ({ namespace, name }: GangName) => ({ resource: POD_GANGS, namespace, name });
  const written = async (write: Promise<JsonObject>): Promise<GangRecord | undefined> => {
    try {
      return readGangRecord(await write);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw outdatedOr(error);
    }
  };
  return {
    references: (name, write) => {
      const operations = referencesPatch(write);
      return written(client.jsonPatch<JsonObject>(target(name), operations, { signal }));
    },
    status: (name, write) =>
      written(client.patchStatus<JsonObject>(target(name), statusPatch(write), { signal, first: true })),
    fresh: async (name) => {
      try {
        return readGangRecord(await client.get<JsonObject>(target(name), { signal }));
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    freshPods: async ({ namespace, name }, names) => {
      const found =
        names.length > READ_BY_NAME
          ? await podsOfGang(client, namespace, name, new Set(names), signal)
          : await podsByName(client, namespace, names, signal);
      return found.map((pod) => readMemberPod(pod, kinds));
    },
    ungate: (ungates, done) =>
      forEachOf(ungates, async (ungate) => {
        const pod = { resource: PODS, namespace: ungate.namespace, name: ungate.pod };
        try {
          const patch = ungatePatch(ungate);
          const unread = { signal, answer: 'nothing', first: true } as const;
          await client.jsonPatch(pod, patch, unread);
        } catch (error) {
          if (!isNotFound(error)) throw outdatedOr(error);
        }
        done(ungate);
      }),
  };
}

/** Reads each Pod as a list of one, which needs only the right that the watch has as well. */
async function podsByName(
  client: KubeClient,
  namespace: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  await forEachOf(names, async (name) => {
    const fieldSelector = `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`;
    try {
      const { items } = await client.list<JsonObject>(PODS, { namespace, fieldSelector, signal });
      found.push(...items);
    } catch (error) {
      // The API server refuses the name itself: no Pod can have it.
      if (!isInvalid(error)) throw error;
    }
  });
  return found;
}

/** A Pod without the gang's label is not a member, whatever its name. */
async function podsOfGang(
  client: KubeClient,
  namespace: string,
  gang: string,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  const labelSelector = `${LABEL_POD_GANG}=${gang}`;
  await listPages({ client, resource: PODS, namespace, labelSelector }, PAGE, signal, (page, first) => {
    if (first) found.length = 0;
    for (const pod of page) {
      if (names.has(pod.metadata.name)) found.push(pod as unknown as JsonObject);
    }
  });
  return found;
}

/** A failed `test` of a JSON patch is answered with 422, a wrong uid or resourceVersion with 409: both mean an old cache. */
const outdatedOr = (error: unknown): unknown =>
  isConflict(error) || isInvalid(error) ? new Outdated((error as Error).message, { cause: error }) : error;

/**
 * Runs `work` for as many items concurrently as the client may ever call. After an Outdated error the others continue;
 * after any other, no new item begins.
 */
async function forEachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let outdated: Outdated | undefined;
  let failure: Error | undefined;
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === undefined) {
      const item = items[next++] as T;
      try {
        await work(item);
      } catch (error) {
        if (error instanceof Outdated) outdated ??= error;
        else failure ??= error instanceof Error ? error : new Error(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_CALLS, items.length) }, worker));
  const thrown = failure ?? outdated;
  if (thrown !== undefined) throw thrown;
}
