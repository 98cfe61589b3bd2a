import { pointerTo, type PatchOperation } from '../../json/patch.ts';
import { madeGang } from '../../workloads/made-gang.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '../../kube/client/errors.ts';
import { POD_GANGS, PODS, type KubeObject } from '../../kube/client/resources.ts';
import type { EventRecorder } from '../../kube/loop/event-recorder.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { GangAction } from './plan-made-gang.ts';

interface WriteContext {
  readonly client: Pick<KubeClient, 'create' | 'delete' | 'jsonPatch'>;
  readonly registry: Pick<BackendRegistry, 'backends'>;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly log: Logger;
}

/** Delay (ms) until the gang is planned again after the cache turned out to be outdated. */
export const OUTDATED_MS = 1_000;

/** Carries out an action. @returns the delay (ms) until the gang has to be planned again, if no event would cause that */
export async function carryOut(
  action: GangAction,
  { client, registry, recorder, log }: WriteContext,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    switch (action.do) {
      case 'nothing':
        return action.againMs;
      case 'create': {
        const { like, gang } = action;
        const backend = registry.backends.find(
          ({ schedulerName }) => schedulerName === like.schedulerName,
        )?.name;
        const object = madeGang({ ...gang, backend });
        await client.create(POD_GANGS, object as unknown as KubeObject, { signal });
        log.info({ gang: `${gang.namespace}/${gang.name}`, workload: gang.origin.name }, 'made a PodGang');
        return undefined;
      }
      case 'delete': {
        const { namespace, name, uid, resourceVersion } = action.gang;
        const preconditions = { uid, resourceVersion };
        await client.delete({ resource: POD_GANGS, namespace, name }, { preconditions, signal });
        log.info({ gang: `${namespace}/${name}`, why: action.why }, 'deleted a PodGang that Muster had made');
        return undefined;
      }
      case 'change': {
        const { namespace, name } = action.gang;
        await client.jsonPatch({ resource: POD_GANGS, namespace, name }, changePatch(action), { signal });
        return undefined;
      }
      case 'say': {
        const { namespace, name, uid } = action.pod;
        const { reason, message: note } = action;
        recorder.event({ resource: PODS, namespace, name, uid }, { type: 'Warning', reason, note });
        return undefined;
      }
    }
  } catch (error) {
    // Another writer was first, possibly this process a moment ago: the watch will show the current object.
    if (isAlreadyExists(error) || isConflict(error) || isNotFound(error)) return OUTDATED_MS;
    // The `test` operation of the patch failed.
    if (action.do === 'change' && isInvalid(error)) return OUTDATED_MS;
    throw error;
  }
}

/** Setting `metadata.resourceVersion` makes the API server answer 409 when the gang was changed since it was read. */
function changePatch({ gang, change }: Extract<GangAction, { do: 'change' }>): PatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: gang.uid },
    { op: 'replace', path: '/metadata/resourceVersion', value: gang.resourceVersion },
    ...[...change.minimums].map(([index, value]): PatchOperation => ({
      op: 'replace',
      path: `/spec/podgroups/${index}/minReplicas`,
      value,
    })),
    ...Object.entries(change.annotations).map(([key, value]): PatchOperation => {
      const path = pointerTo(['metadata', 'annotations', key]);
      return value === null ? { op: 'remove', path } : { op: 'add', path, value };
    }),
  ];
}

/** Keys of objects created a moment ago, which the caches may not show yet. */
export class RecentlyCreated {
  readonly #at = new Map<string, number>();
  readonly #forMs: number;
  readonly #now: () => number;

  /**
   * @param forMs how long a cache may lag behind; an object that it does not show by then was deleted again
   * @param now milliseconds since any fixed time
   */
  constructor(forMs: number, now: () => number) {
    this.#forMs = forMs;
    this.#now = now;
  }

  add(key: string): void {
    this.#at.set(key, this.#now());
  }

  /** Called when the cache shows the object, or when nothing asks for it any more. */
  forget(key: string): void {
    this.#at.delete(key);
  }

  has(key: string): boolean {
    const at = this.#at.get(key);
    if (at !== undefined && this.#now() - at < this.#forMs) return true;
    this.#at.delete(key);
    return false;
  }
}
