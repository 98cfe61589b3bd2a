import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { JsonObject } from '../../json/json.ts';
import type { Considered, PlanQuestion } from './consider.ts';

/** Where it is worked out who makes room for a gang. */
export interface Planner {
  /** More of the cluster. */
  take(objects: readonly JsonObject[]): void;
  /** Once all of it is there. */
  consider(question: PlanQuestion): Promise<Considered>;
  end(): Promise<void>;
}

/**
 * What a planner may take of memory (MiB): half of what this process may, which V8 works out from the container's limit. What
 * is more ends the thread, not the process.
 */
const heapMb = (): number => Math.ceil(getHeapStatistics().heap_size_limit / 2 / 2 ** 20);
/** Objects that are handed over at once: each takes the thread of reviews some microseconds. */
const AT_ONCE = 500;

/** What is sent to the thread. */
export type ToThread = { readonly objects: readonly JsonObject[] } | { readonly question: PlanQuestion };

/** A thread for one look: in a large cluster a plan takes seconds, and reviews must not wait for it. */
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
  // It may fail before anybody asks.
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
