import { isDnsSubdomain, MAX_LABEL_VALUE } from '../k8s/name-syntax.ts';

/** The PodGang as Muster reads it: only the fields that Muster uses, without defaults. */

/** A Pod by name. The CRD requires both fields. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Keys of node labels (not names of domains) from the cluster's topology levels. */
export interface PackConstraint {
  readonly required?: string;
  readonly preferred?: string;
}

export interface PodGroup {
  readonly name: string;
  /** How many Pods must start together. 0 is allowed where another group has more. */
  readonly minReplicas: number;
  /** undefined where the manifest has no list; the CRD requires one, which may be empty. */
  readonly podReferences: readonly NamespacedName[] | undefined;
  readonly pack: PackConstraint | undefined;
}

/** A subset of the groups that share a topology constraint. */
export interface GroupConfig {
  readonly name: string;
  readonly podGroupNames: readonly string[];
  readonly pack: PackConstraint | undefined;
}

export interface PodGangSpec {
  readonly groups: readonly PodGroup[];
  readonly pack: PackConstraint | undefined;
  readonly groupConfigs: readonly GroupConfig[];
  readonly priorityClassName: string | undefined;
  readonly reuseReservationRef: NamespacedName | undefined;
}

/** A `metav1.Condition`; each field may be missing. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly observedGeneration: number | undefined;
  readonly lastTransitionTime: string | undefined;
}

export interface PodGang {
  readonly namespace: string;
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  readonly spec: PodGangSpec;
  readonly conditions: readonly Condition[];
}

export const CONDITION_INITIALIZED = 'Initialized';

/** The name of a PodGang: an object name that is also a label value of its Pods. */
export const isPodGangName = (text: string): boolean =>
  text.length <= MAX_LABEL_VALUE && isDnsSubdomain(text);
