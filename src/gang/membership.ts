import { LABEL_BASE_POD_GANG, LABEL_GANG, LABEL_POD_CLIQUE, LABEL_POD_GANG } from '../api/names.ts';

/**
 * Which gang a Pod belongs to. A gang is (namespace, name) with the Pod's own namespace, so a label can never
 * reach into another namespace.
 */
export interface Membership {
  readonly namespace: string;
  /** Name of the PodGang. */
  readonly gang: string;
  /** Name of the group in it. */
  readonly group: string;
  /** The gang that must be scheduled first, for a scaled gang. */
  readonly baseGang: string | undefined;
}

/** The labels that make a Pod a member; they never change once it exists. */
export const MEMBERSHIP_LABELS = [LABEL_POD_GANG, LABEL_POD_CLIQUE, LABEL_BASE_POD_GANG, LABEL_GANG] as const;

/** The value of a label, or undefined; an absent map has none. */
type ReadLabel = (key: string) => string | undefined;

/** A Pod with the label `grove.io/podgang`, whatever its value, claims to be a gang Pod. */
export const claimsGang = (label: ReadLabel): boolean => label(LABEL_POD_GANG) !== undefined;

/** A Pod with the label `muster.dev/gang`, whatever its value, asks to be put into the gang of its workload. */
export const asksForGang = (label: ReadLabel): boolean => label(LABEL_GANG) !== undefined;

/** Reads the membership from labels; `gang` and `group` are `''` where a label is missing or empty. */
export const membershipOf = (namespace: string, label: ReadLabel): Membership => ({
  namespace,
  gang: label(LABEL_POD_GANG) ?? '',
  group: label(LABEL_POD_CLIQUE) ?? '',
  baseGang: label(LABEL_BASE_POD_GANG),
});
