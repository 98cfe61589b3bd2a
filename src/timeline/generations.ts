import type { PodLife } from './pod-life.ts';

/** A Pod's life with when its gate came off. */
export interface ReleasedLife extends PodLife {
  readonly gateOff: number | undefined;
}

export interface Generation {
  readonly number: number;
  readonly lives: readonly ReleasedLife[];
}

/** Clocks may differ by so much (ms) before a Pod counts as created after its gang was Initialized. */
export const CLOCK_SKEW = 5_000;

/** The first moment that is known of a Pod. */
export const bornAt = (life: ReleasedLife): number =>
  life.created ??
  Math.min(
    ...[life.gateOff, life.bound, life.started, life.evicted?.at, life.deleted].map((at) => at ?? Infinity),
  );

export const podNames = (lives: readonly ReleasedLife[]): string[] =>
  [...new Set(lives.map(({ pod }) => pod))].sort();

/** When a Pod stopped to count as one that runs; Infinity where it does still. */
export function lifeEnd(life: ReleasedLife): number {
  const ends = [life.deleted, life.ended, life.evicted?.at].filter((at) => at !== undefined);
  if (ends.length > 0) return Math.min(...ends);
  return life.gone ? Math.max(...[life.bound, life.started].map((at) => at ?? -Infinity)) : Infinity;
}

/**
 * The generations of a gang, by the rules of the loop: a Pod is of the generation that forms until that is released; later
 * it joins while one of the generation is left, and is of the next one when none is. Restarts that a workload counts, and
 * revisions, separate generations in any case.
 */
export function generationsOf(
  lives: readonly ReleasedLife[],
  initialized: number | undefined,
): readonly Generation[] {
  const sorted = [...lives].sort((a, b) => bornAt(a) - bornAt(b) || (a.uid < b.uid ? -1 : 1));
  const [oldest] = sorted;
  if (oldest === undefined) return [];
  // Pods that are all younger than Initialized are at least the second ones.
  const first = initialized !== undefined && bornAt(oldest) > initialized + CLOCK_SKEW ? 2 : 1;
  const generations: ReleasedLife[][] = [];
  for (const life of sorted) {
    const current = generations.at(-1);
    if (current !== undefined && belongs(life, current)) current.push(life);
    else generations.push([life]);
  }
  return generations.map((of, index) => ({ number: first + index, lives: of }));
}

function belongs(life: ReleasedLife, generation: readonly ReleasedLife[]): boolean {
  const [one] = generation;
  if (one !== undefined && (differ(one.attempt, life.attempt) || differ(one.revision, life.revision)))
    return false;
  const born = bornAt(life);
  const released = releasedAt(generation);
  return released === undefined || born <= released || generation.some((other) => lifeEnd(other) > born);
}

const differ = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && a !== b;

/** When the first of these Pods was released; undefined where none was, or that is not known. */
export function releasedAt(lives: readonly ReleasedLife[]): number | undefined {
  const moments = lives.flatMap(({ gateOff, bound }) => gateOff ?? bound ?? []);
  return moments.length === 0 ? undefined : Math.min(...moments);
}
