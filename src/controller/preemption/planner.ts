import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { JsonObject } from '../../json/json.ts';
import type { Considered, PlanQuestion } from './consider.ts';

/** Computes which Pods have to be evicted for a gang. */
export interface Planner {
  /** Adds objects of the cluster to the planner's input. */
  take(objects: readonly JsonObject[]): void;
  /** Makes the plan; called once all objects have been added. */
  consider(question: PlanQuestion): Promise<Considered>;
  end(): Promise<void>;
}

/**
 * The heap limit of a planner thread (MiB): half of this process's limit, which V8 derives from the container's.
 * Exceeding it ends the thread, not the process.
 */
const heapMb = (): number => Math.ceil(getHeapStatistics().heap_size_limit / 2 / 2 ** 20);
/** Objects per message to the thread: each object takes some microseconds of the thread that answers reviews. */
const AT_ONCE = 500;

/** A message to the planner thread. */
export type ToThread = { readonly objects: readonly JsonObject[] } | { readonly question: PlanQuestion };

/** Starts a thread for one plan: in a large cluster planning takes seconds, and reviews must not wait for it. */
export function plannerThread(): Planner {
  const file = new URL(
    import.meta.url.endsWith('.ts') ? './plan-thread.ts' : './plan-thread.js',
    import.meta.url,
  );
  const thread = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: heapMb() } });
  const answer = new Promise<Considered>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the planner has ended without an answer')));
  });
  // The promise may reject before `consider` awaits it.
  answer.catch(() => undefined);
  const send = (message: ToThread): void => thread.postMessage(message);
  return {
    take: (objects) => {
      for (let at = 0; at < objects.length; at += AT_ONCE) send({ objects: objects.slice(at, at + AT_ONCE) });
    },
    consider: (question) => {
      send({ question });
      return answer;
    },
    end: async () => {
      await thread.terminate();
    },
  };
}
