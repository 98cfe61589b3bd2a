import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

/** The thread's share of work is looked at this often (ms): as soon as it works, speed matters again. */
const LOOK_EVERY_MS = 1_000;
/** A thread that worked for a larger share of the time since the last look does not rest. */
const RESTS_BELOW = 0.05;
/** What waits for an answer of the API server for some seconds does not rest yet. */
const LOOKS_UNTIL_REST = 10;
/** V8 needs 17 s for two collections in small steps. */
const LOOKS_AT_REST = 30;
/** V8 frees in its own time, so memory is given back this often while it is saved. */
const LOOKS_BETWEEN_RETURNS = 3;

/** When V8 is to save memory: for half a minute from when the thread has come to rest. */
export class Rest {
  #quiet = 0;

  /** @param utilization share of the time since the last look for which the thread worked */
  savesAfter(utilization: number): boolean {
    this.#quiet = utilization < RESTS_BELOW ? this.#quiet + 1 : 0;
    return this.#quiet >= LOOKS_UNTIL_REST && this.#quiet < LOOKS_UNTIL_REST + LOOKS_AT_REST;
  }
}

/**
 * Lets V8 collect what is left of busy times once they are over, and the C library give it back. V8's memory reducer collects
 * in steps of milliseconds, but never for a process that allocates nothing: it finds no rate of allocation that it could call
 * low. Where memory matters more than speed it does not ask for one (`MemoryReducer::TimerTask`,
 * `Heap::ShouldOptimizeForMemoryUsage`).
 * @returns a function that ends this
 */
export function saveMemoryAtRest(everyMs = LOOK_EVERY_MS): () => void {
  const rest = new Rest();
  const giveBack = trimOfGlibc();
  let looks = 0;
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
    if (!saves) return;
    looks += 1;
    if (looks % LOOKS_BETWEEN_RETURNS === 0) giveBack?.();
  }, everyMs).unref();
  return () => {
    clearInterval(timer);
    save(false);
  };
}

/**
 * glibc's `malloc_trim`. What is freed it gives back by itself only from the end of its heap, and lasting memory lies between.
 * @returns undefined where it is not there: another C library, or a Node without `node:ffi`
 */
export function trimOfGlibc(): (() => void) | undefined {
  const warning = Object.getOwnPropertyDescriptor(process, 'emitWarning') ?? {};
  // Node warns on stderr, among the lines of the log, that this module of its own may change.
  process.emitWarning = () => undefined;
  try {
    const ffi = process.getBuiltinModule('node:ffi');
    const own = ffi.dlopen(null, { malloc_trim: { arguments: ['uint64'], return: 'int32' } });
    return () => void own.functions.malloc_trim(0n);
  } catch {
    return undefined;
  } finally {
    Object.defineProperty(process, 'emitWarning', warning);
  }
}
