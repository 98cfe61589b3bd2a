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
import { FairSlots } from '../../kube/loop/fairness.ts';
import { listPages } from '../../kube/loop/list-pages.ts';
import type { GangKind } from '../../workloads/kind.ts';

/** Pods dealt with at a time: as many as the client has connections. More would only queue in the API server. */
export const AT_A_TIME = 16;

/** Pods that are read one by one; of more names than these all Pods of the gang are listed, so that names cost nothing. */
const READ_BY_NAME = 8;
/** Pods of a page: whole ones, of some kilobytes each. */
const PAGE = 100;

/** What was read is not what is there any more. No fault of anybody: look again. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
}

/** The writes of one gang. Each is conditional on what was read, and may be repeated. */
export interface GangWriter {
  /** @returns the gang after the write; undefined where it is gone. @throws {Outdated} */
  references(name: GangName, write: ReferencesWrite): Promise<GangRecord | undefined>;
  status(name: GangName, write: StatusWrite): Promise<GangRecord | undefined>;
  /** The gang as the API server has it now. */
  fresh(name: GangName): Promise<GangRecord | undefined>;
  /** Those of the gang's Pods among these names that the API server has now, as it has them. */
  freshPods(gang: GangName, names: readonly string[]): Promise<PodRecord[]>;
  /**
   * Takes gates off. `done` hears of each that is off, or whose Pod is gone, as it happens.
   * @throws the first failure, once what was under way is done
   */
  ungate(ungates: readonly Ungate[], done: (ungate: Ungate) => void): Promise<void>;
}

export interface GangName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * @param slots for the gates of all gangs, so that one namespace's thousands do not stand before another's few
 * @param kinds workloads whose Pods may ask for a gang; default: those that Muster knows
 */
export function gangWriter(
  client: KubeClient,
  signal: AbortSignal,
  slots = new FairSlots(AT_A_TIME),
  kinds?: readonly GangKind[],
): GangWriter {
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
      written(client.patchStatus<JsonObject>(target(name), statusPatch(write), { signal })),
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
      forEachOf(ungates, AT_A_TIME, async (ungate) => {
        const pod = { resource: PODS, namespace: ungate.namespace, name: ungate.pod };
        try {
          const patch = ungatePatch(ungate);
          const unread = { signal, answer: 'nothing' } as const;
          await slots.run(ungate.namespace, () => client.jsonPatch(pod, patch, unread));
        } catch (error) {
          if (!isNotFound(error)) throw outdatedOr(error);
        }
        done(ungate);
      }),
  };
}

/** Each as a list of one, which takes no right that the watch does not have. */
async function podsByName(
  client: KubeClient,
  namespace: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  await forEachOf(names, AT_A_TIME, async (name) => {
    const fieldSelector = `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`;
    try {
      const { items } = await client.list<JsonObject>(PODS, { namespace, fieldSelector, signal });
      found.push(...items);
    } catch (error) {
      // Refused as it is: no Pod can have this name.
      if (!isInvalid(error)) throw error;
    }
  });
  return found;
}

/** What does not have the gang's label is no member, whatever its name. */
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

/** A failed `test` of a JSON patch comes as 422, a wrong uid or resourceVersion as 409: both mean an old cache. */
const outdatedOr = (error: unknown): unknown =>
  isConflict(error) || isInvalid(error) ? new Outdated((error as Error).message, { cause: error }) : error;

/** As many at a time as told. What is merely outdated stops nobody else; any other failure begins nothing new. */
async function forEachOf<T>(
  items: readonly T[],
  atATime: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
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
  await Promise.all(Array.from({ length: Math.min(atATime, items.length) }, worker));
  const thrown = failure ?? outdated;
  if (thrown !== undefined) throw thrown;
}
