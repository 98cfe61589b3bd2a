import type { Group } from '../diagnosis.ts';
import type { Difference } from './differences.ts';

/**
 * Severity of a difference. `free`: not reported, since another check covers it or it does not matter. `note`: allowed, and
 * reported.
 */
export type Weight = 'free' | 'note' | 'warning' | 'problem';

export interface Judgement {
  readonly weight: Weight;
  /** The consequence of the difference. */
  readonly why: string;
}

export interface Row {
  readonly field: RegExp;
  readonly weight: Weight | ((difference: Difference) => Weight);
  readonly why?: string;
}

/** How findings about one kind of object are reported. */
export interface KindOfObject {
  readonly group: Group;
  readonly check: string;
  /** Whether a field that the manifest does not have is a difference. */
  readonly strict: boolean;
  /** Whether the object is wanted only where Muster runs in this cluster. */
  readonly inCluster: boolean;
  /** The consequence where the object does not exist. */
  readonly missing: string;
  readonly missingWeight?: Weight;
  /** The first row whose `field` matches decides; a difference that matches none is a problem. */
  readonly rows: readonly Row[];
  /** The consequence of a difference whose row has none. */
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
