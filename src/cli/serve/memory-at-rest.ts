import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';

/** The thread's share of work is looked at this often (ms). */
const LOOK_EVERY_MS = 1_000;
/** A thread that worked for a larger share of the time since the last look does not rest. */
const RESTS_BELOW = 0.05;
/** What waits for an answer of the API server for some seconds does not rest yet. */
const LOOKS_UNTIL_REST = 10;
/** V8 gives back the pages that a collection freed eight seconds after it. */
const LOOKS_AT_REST = 30;
/** Memory is given back this often meanwhile. */
const LOOKS_BETWEEN_RETURNS = 3;
/** The collection has ended by this look. */
const LOOKS_UNTIL_COLLECTED = 5;
/** Free memory between lasting objects that is worth the loss of optimised code. */
const LARGE_GAPS_BYTES = 16 * 2 ** 20;
/** V8 lets a small heap grow by less. What the C library makes of so many bytes takes addresses, and no memory. */
const LEAST_BUFFER_BYTES = 64 * 2 ** 20;

/**
 * When memory is to be saved: for half a minute from when the thread has come to rest, whatever it does then, since V8's own
 * collection may be what it works at.
 */
export class Rest {
  #quiet = 0;

  /** @param utilization share of the time since the last look for which the thread worked */
  savesAfter(utilization: number): boolean {
    this.#quiet = this.#saves || utilization < RESTS_BELOW ? this.#quiet + 1 : 0;
    return this.#saves;
  }

  get #saves(): boolean {
    return this.#quiet >= LOOKS_UNTIL_REST && this.#quiet < LOOKS_UNTIL_REST + LOOKS_AT_REST;
  }
}

/**
 * Lets V8 collect what is left of busy times once they are over, and the C library give it back.
 * @returns a function that ends this
 */
export function saveMemoryAtRest(everyMs = LOOK_EVERY_MS): () => void {
  const rest = new Rest();
  const giveBack = trimOfGlibc();
  let looks = 0;
  let buffer: ArrayBuffer | undefined;
  let compacts = false;
  const compact = (wanted: boolean): void => {
    // V8's memory reducer waits for a low rate of allocation, which a thread at rest has not, but where size matters more.
    if (wanted !== compacts) setFlagsFromString(wanted ? '--optimize-for-size' : '--no-optimize-for-size');
    compacts = wanted;
  };
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    const saves = rest.savesAfter(utilization);
    before = now;
    // The collection has ended by the next look; a buffer that it found alive would bring on the next one.
    buffer?.transfer(0);
    buffer = saves && looks === 0 ? bufferBeyondGrowth() : undefined;
    looks = saves ? looks + 1 : 0;
    compact(looks > LOOKS_UNTIL_COLLECTED && (compacts || gapsBytes() > LARGE_GAPS_BYTES));
    if (saves && utilization < RESTS_BELOW && looks % LOOKS_BETWEEN_RETURNS === 0) giveBack?.();
  }, everyMs).unref();
  return () => {
    clearInterval(timer);
    compact(false);
  };
}

/**
 * A buffer with which V8 begins to collect the whole heap, in steps of milliseconds: it passes the share by which memory may
 * grow. A collection that V8 makes to save memory takes the hidden classes that optimised code was made for where no object
 * has them just then, and the code with them; one that follows growth leaves both.
 */
function bufferBeyondGrowth(): ArrayBuffer | undefined {
  try {
    return new ArrayBuffer(Math.max(LEAST_BUFFER_BYTES, getHeapStatistics().total_heap_size));
  } catch {
    // There are no addresses for it, so V8 collects when it does so by itself.
    return undefined;
  }
}

/** Free memory between lasting objects, which V8 leaves there unless it is to save memory. */
function gapsBytes(): number {
  const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space');
  return old === undefined ? 0 : old.space_size - old.space_used_size;
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
