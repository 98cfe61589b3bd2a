import type { LoopMemory, MemoryTiming } from './memory.ts';
import type { Shape } from './objects.ts';
import type { Arrivals, Release } from './release.ts';

export interface LoopTiming {
  readonly rounds: number;
  /**
   * Before the first round, for all contenders: connections, and the compiler, which takes some 5,000 Pods to be through
   * with Muster. A leader that has led for an hour is measured, not one that has just started.
   */
  readonly warmUp: { readonly rounds: number; readonly shape: Shape };
  readonly one: Shape;
  readonly many: Shape;
  /** Where the Pods are there before their PodGangs; only the writes count. */
  readonly podsFirst: Shape;
  readonly memory: MemoryTiming;
}

/** The contenders, one after the other. */
export interface ReleaseRound {
  readonly bare: Release;
  readonly muster: Release;
  readonly watching: Release;
}

/** undefined: not measured. */
export interface LoopFigures {
  readonly timing: LoopTiming;
  readonly one?: readonly ReleaseRound[];
  readonly many?: readonly ReleaseRound[];
  readonly podsFirst?: Release;
  readonly arrivals?: readonly Arrivals[];
  readonly memory?: LoopMemory;
  /** How often the watch of the bench began anew. */
  readonly cuts?: number;
}
