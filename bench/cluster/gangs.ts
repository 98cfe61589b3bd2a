import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isAlreadyExists } from '../../src/kube/client/errors.ts';
import { POD_GANGS, PODS, type KubeObject, type Resource } from '../../src/kube/client/resources.ts';
import { loadGang, loadPod } from '../soak/load.ts';
import { GANG_SIZE } from './options.ts';
import type { Watched } from './watched.ts';

const TEAMS = 20;
export const TEAM_NAMESPACES = Array.from({ length: TEAMS }, (_, index) => `team-${index}`);

const MOST_TRIES = 20;
const PAUSE_MS = 500;

/**
 * Creates gangs, and never has more than `ahead` of them that do not run whole: what is measured is how long the cluster
 * takes for them, not how long a queue can grow.
 * @returns how many creations had to be tried again
 */
export async function createGangs(given: {
  readonly client: KubeClient;
  readonly watched: Watched;
  /** Number of the first, and of the first that is not made. */
  readonly from: number;
  readonly to: number;
  readonly ahead: number;
  /** Without PodGangs there are the Pods alone. */
  readonly podGangs: boolean;
  /** Aborting begins no further gang. */
  readonly signal: AbortSignal;
}): Promise<number> {
  const { client, watched, from, to, ahead, podGangs, signal } = given;
  let [next, failed] = [from, 0];

  const create = async (resource: Resource, object: KubeObject): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      try {
        await client.create(resource, object, { answer: 'nothing' });
        return;
      } catch (error) {
        // A try whose answer was lost has made it.
        if (isAlreadyExists(error) || signal.aborted) return;
        if (tries === MOST_TRIES) throw error;
        failed += 1;
        await delay(PAUSE_MS);
      }
    }
  };
  const owner = async (): Promise<void> => {
    while (next < to && !signal.aborted) {
      const number = next++;
      const [name, namespace] = [`gang-${number}`, TEAM_NAMESPACES[number % TEAMS] ?? ''];
      const over = watched.begin(name);
      if (podGangs) await create(POD_GANGS, loadGang(name, GANG_SIZE, namespace));
      const pods = Array.from({ length: GANG_SIZE }, (_, index) => loadPod(name, index, namespace));
      await Promise.all(pods.map((pod) => create(PODS, pod)));
      await over;
    }
  };
  await Promise.all(Array.from({ length: Math.min(ahead, to - from) }, owner));
  return failed;
}
