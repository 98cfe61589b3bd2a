import type { PreemptionUnit } from './units.ts';

/**
 * A plan on its way: who was told to go, and where the preemptor's Pods are to be. JSON as it stands, so that it can be
 * written down before the first Pod goes, and whoever reads it again goes on with it.
 */
export interface InFlight {
  readonly nominations: readonly Nomination[];
  readonly victims: readonly Victim[];
  /** Given up: units that were begun are brought to their end, no other is touched, and nothing new is planned till then. */
  readonly closing: boolean;
}

/** A node that is being cleared for a Pod of the preemptor. */
export interface Nomination {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** A unit that has to go. */
export interface Victim extends Pick<PreemptionUnit, 'kind' | 'namespace' | 'name' | 'priority'> {
  readonly pods: readonly { readonly name: string; readonly uid: string }[];
}
