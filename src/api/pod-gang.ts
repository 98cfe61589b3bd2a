import { isDnsSubdomain, MAX_LABEL_VALUE } from '../k8s/name-syntax.ts';

/** The PodGang as Muster reads it: only the fields that it uses, defaults not applied. */

/** A Pod by name. Both are required by the CRD. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** Node label keys (not domain names), broad or narrow as the cluster's levels say. */
export interface PackConstraint {
  readonly required?: string;
  readonly preferred?: string;
}

export interface PodGroup {
  readonly name: string;
  /** Pods that must start together. 0 is legal beside a group with more. */
  readonly minReplicas: number;
  /** undefined where the manifest leaves it out; the CRD asks for a list, possibly empty. */
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

/** A `metav1.Condition`, as much of it as there is. */
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
