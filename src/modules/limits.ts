/** What a module may take. */
export interface ModuleLimits {
  /** How long (ms) it may take to load, `create()` included. Less than `init` has, which waits for it. */
  readonly loadMs: number;
  /** How long (ms) a review waits for it: reviews are repeated, and others have to be answered meanwhile. */
  readonly answerMs: number;
  /** How long (ms) it may let nothing else run while it is asked something. */
  readonly silentMs: number;
  /** Of V8's heap, which ends the process where it is full. */
  readonly heapMib: number;
  /** Of all that the process has in memory, what lies outside of that heap included. */
  readonly residentMib: number;
}

export const MODULE_LIMITS: ModuleLimits = {
  loadMs: 8_000,
  answerMs: 2_000,
  silentMs: 5_000,
  heapMib: 64,
  residentMib: 256,
};
