import type { Group } from '../diagnosis.ts';
import type { Difference } from './differences.ts';

/** What a difference means. `free`: another check judges it, or nobody has to. `note`: it may be so, and is said. */
export type Weight = 'free' | 'note' | 'warning' | 'problem';

export interface Judgement {
  readonly weight: Weight;
  /** What comes of it. */
  readonly why: string;
}

export interface Row {
  readonly field: RegExp;
  readonly weight: Weight | ((difference: Difference) => Weight);
  readonly why?: string;
}

/** Of one kind of object: where its findings stand, whether it is wanted where Muster runs elsewhere, and its fields. */
export interface KindOfObject {
  readonly group: Group;
  readonly check: string;
  /** A field that is not wanted is a difference. */
  readonly strict: boolean;
  /** Wanted only where the Deployment is. */
  readonly inCluster: boolean;
  /** What comes of it where it is not there. */
  readonly missing: string;
  readonly missingWeight?: Weight;
  /** The first that fits; where none does, it is a problem. */
  readonly rows: readonly Row[];
  /** What comes of a difference that no row names. */
  readonly why: string;
}

export function judge(kind: KindOfObject, difference: Difference): Judgement {
  const row = kind.rows.find(({ field }) => field.test(difference.field));
  const weight = row === undefined ? 'problem' : row.weight;
  return {
    weight: typeof weight === 'function' ? weight(difference) : weight,
    why: row?.why ?? kind.why,
  };
}
