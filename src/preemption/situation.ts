import type { Preemptor } from './preemptor.ts';
import type { Snapshot } from './snapshot.ts';
import type { PreemptionUnit } from './units.ts';
import type { Variant } from './variants.ts';

/** What is known at one attempt. */
export interface Situation {
  readonly preemptor: Preemptor;
  readonly snapshot: Snapshot;
  readonly variant: Variant;
  /** Whether a unit may be touched at all. */
  readonly mayGo: (unit: PreemptionUnit) => boolean;
  /** Whether a PodDisruptionBudget may be overdrawn where nothing else helps. */
  readonly breaksBudgets: boolean;
}
