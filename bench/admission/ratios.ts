import { NOTHING, ratioOf, type Estimate } from '../measure/interval.ts';
import type { ContestResult, Slice } from './contest.ts';
import type { ServerName } from './servers.ts';

export const slicesOf = (results: readonly ContestResult[], server: ServerName): Slice[] =>
  results.flatMap((result) => result.slices[server] ?? []);

/** Each of five turns together. */
export const p99sOf = (results: readonly ContestResult[], server: ServerName): number[] =>
  results.flatMap((result) => result.p99s[server] ?? []);

/** The part of a result that is compared round by round. */
export type Rounds = Pick<ContestResult, 'slices'>;

type Of = 'cpuMicros' | 'perSecond';
export const valueOf = (slice: Slice, of: Of): number =>
  of === 'perSecond' ? (slice.reviews / slice.ms) * 1000 : slice[of];

/** How many times what `lower` had is what `upper` had, over the rounds in which both took part. */
export function ratioBetween(
  upper: ServerName,
  lower: ServerName,
  of: Of,
  results: readonly Rounds[] = [],
): Estimate {
  const [above, below]: [number[], number[]] = [[], []];
  for (const { slices } of results) {
    const others = new Map(slices[lower]?.map((slice) => [slice.round, slice]));
    for (const slice of slices[upper] ?? []) {
      const other = others.get(slice.round);
      if (other === undefined) continue;
      above.push(valueOf(slice, of));
      below.push(valueOf(other, of));
    }
  }
  return ratioOrNothing(above, below);
}

/** Of samples that were taken in pairs. */
export const ratioOrNothing = (upper: readonly number[], lower: readonly number[]): Estimate =>
  upper.length === 0 ? NOTHING : ratioOf(upper, lower);
