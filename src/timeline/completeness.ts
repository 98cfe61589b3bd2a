import { expectedPods } from '../gang/expected-pods.ts';
import type { GangRecord } from '../gang/records.ts';
import { listed } from '../text/printable.ts';
import { CLOCK_SKEW, releasedAt, type ReleasedLife } from './generations.ts';

/** How many Pods of each group there were at each moment of a generation. */
export interface Completeness {
  /** The first moment at which every group had its Pods; undefined where there was none, or Pods of it are gone. */
  readonly at: number | undefined;
  /** The groups that lack Pods at a moment: `leader 0/1, worker 1/2`; '' where none does. */
  lacking(at: number): string;
}

/** @param lives the Pods of one generation; those that are being deleted or have failed count until then */
export function completenessOf(
  gang: Pick<GangRecord, 'spec' | 'annotations'>,
  lives: readonly ReleasedLife[],
): Completeness {
  const { counts } = expectedPods(gang);
  const groups = gang.spec.groups.map(({ name }, index) => ({ name, wants: counts[index] ?? 0 }));
  const countAt = (group: string, at: number): number =>
    lives.filter((life) => life.group === group && isThere(life, at)).length;
  const isWhole = (at: number): boolean => groups.every(({ name, wants }) => countAt(name, at) >= wants);
  // What joins after the release does not make the generation complete: it was, and some of its Pods are gone.
  const until = (releasedAt(lives) ?? Infinity) + CLOCK_SKEW;
  const moments = [...new Set(lives.flatMap(({ created }) => created ?? []))]
    .filter((moment) => moment <= until)
    .sort((a, b) => a - b);
  return {
    at: groups.length === 0 ? undefined : moments.find(isWhole),
    lacking: (at) =>
      listed(
        groups
          .map(({ name, wants }) => ({ name, wants, has: countAt(name, at) }))
          .filter(({ wants, has }) => has < wants)
          .map(({ name, wants, has }) => `${name} ${has}/${wants}`),
        'groups',
      ),
  };
}

const isThere = ({ created, deleted, ended, phase }: ReleasedLife, at: number): boolean =>
  created !== undefined &&
  created <= at &&
  (deleted === undefined || deleted > at) &&
  !(phase === 'Failed' && (ended === undefined || ended <= at));
