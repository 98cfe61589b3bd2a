import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/** The thread's share of work is looked at this often (ms). */
const LOOK_EVERY_MS = 5_000;
/** A thread that worked for a smaller share of the time since the last look rests. */
const RESTS_BELOW = 0.05;
/** V8 needs 17 s for two collections in small steps. */
const LOOKS_AT_REST = 6;

/** When V8 is to save memory: for half a minute from when the thread comes to rest. */
export class Rest {
  #looks = 0;

  /** @param utilization share of the time since the last look for which the thread worked */
  savesAfter(utilization: number): boolean {
    this.#looks = utilization < RESTS_BELOW ? this.#looks + 1 : 0;
    return this.#looks > 0 && this.#looks <= LOOKS_AT_REST;
  }
}

/**
 * Lets V8 collect what is left of busy times once they are over. Its memory reducer does that in steps of milliseconds, but
 * never for a process that allocates nothing: it finds no rate of allocation that it could call low. Where memory matters
 * more than speed it does not ask for one (`MemoryReducer::TimerTask`, `Heap::ShouldOptimizeForMemoryUsage`).
 * @returns a function that ends this
 */
export function saveMemoryAtRest(everyMs = LOOK_EVERY_MS): () => void {
  const rest = new Rest();
  let saves = false;
  const save = (wanted: boolean): void => {
    if (wanted !== saves) setFlagsFromString(wanted ? '--optimize-for-size' : '--no-optimize-for-size');
    saves = wanted;
  };
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    save(rest.savesAfter(performance.eventLoopUtilization(now, before).utilization));
    before = now;
  }, everyMs).unref();
  return () => {
    clearInterval(timer);
    save(false);
  };
}
