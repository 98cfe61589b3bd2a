import type { DisruptionMode } from '../api/preemption-terms.ts';
import type { PriorityClass } from '../api/priority-class.ts';
import type { LabelSelector } from '../k8s/label-selector.ts';
import type { Labels, Resources } from '../k8s/field-reader.ts';
import type { Taint, Toleration } from '../k8s/taints.ts';

export type { Labels, Resources } from '../k8s/field-reader.ts';
export type { Taint, Toleration } from '../k8s/taints.ts';

/**
 * A cluster at one moment, with only the fields that decide where Pods fit and which Pods are preempted. It is plain data
 * from a file or an API server, and is never read again.
 */
export interface Snapshot {
  readonly nodes: readonly Node[];
  /** Pods that are bound and have not ended. */
  readonly pods: readonly Pod[];
  readonly budgets: readonly DisruptionBudget[];
  readonly classes: ReadonlyMap<string, PriorityClass>;
  /** PodGangs, by `namespace/name`. */
  readonly gangs: ReadonlyMap<string, Gang>;
  /** Native PodGroups (scheduling.k8s.io), by `namespace/name`. */
  readonly podGroups: ReadonlyMap<string, NativeGroup>;
  /** Labels of Namespaces, for namespace selectors in (anti-)affinity; empty where the snapshot has none. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

export interface Node {
  readonly name: string;
  readonly labels: Labels;
  readonly unschedulable: boolean;
  readonly taints: readonly Taint[];
  readonly allocatable: Resources;
}

export interface Pod {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Labels;
  readonly priority: number;
  /** Name of the PriorityClass; `''` where the Pod names none. */
  readonly className: string;
  /** Set for a Pod that is not stored yet and names no class: it gets its gang's class when it is created. */
  readonly classless?: true;
  /** False with `preemptionPolicy: Never`. */
  readonly preempts: boolean;
  /** `''` while unbound. */
  readonly nodeName: string;
  /** Milliseconds since 1970; undefined where the Pod has not started. */
  readonly startTime: number | undefined;
  readonly terminating: boolean;
  /** Reason of the condition DisruptionTarget; `''` where the Pod has no such condition. */
  readonly disruption: string;
  /** Name of the nominated node; `''` without one. */
  readonly nominatedNode: string;
  readonly requests: Resources;
  /** Requests as kube-scheduler's scores count them: 100m and 200Mi for a container that requests nothing. */
  readonly scored: { readonly cpu: number; readonly memory: number };
  readonly constraints: Constraints;
  /** Label `grove.io/podgang`, `''` without. */
  readonly gang: string;
  /** Label `grove.io/podclique`, `''` without. */
  readonly group: string;
  /** `spec.schedulingGroup.podGroupName`, `''` without. */
  readonly podGroup: string;
}

/** Which nodes a Pod may use. Pods of one template share one object, so results that depend on it are computed once. */
export interface Constraints {
  readonly nodeSelector: Labels;
  /** Terms of which one has to match; undefined: every node matches. */
  readonly requiredNodes: readonly NodeSelectorTerm[] | undefined;
  readonly preferredNodes: readonly { readonly weight: number; readonly term: NodeSelectorTerm }[];
  /** Node terms of bound volumes: one term of each list has to match. */
  readonly volumeNodes: readonly (readonly NodeSelectorTerm[])[];
  readonly tolerations: readonly Toleration[];
  readonly ports: readonly HostPort[];
  readonly affinity: readonly PodAffinityTerm[];
  readonly antiAffinity: readonly PodAffinityTerm[];
  readonly spread: readonly TopologySpreadConstraint[];
}

/** A term of which all requirements have to hold. A term without requirements matches no node. */
export interface NodeSelectorTerm {
  readonly labels: readonly NodeSelectorRequirement[];
  /** Requirements on fields; Kubernetes knows `metadata.name` only. */
  readonly fields: readonly NodeSelectorRequirement[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** One term of a required Pod (anti-)affinity. */
export interface PodAffinityTerm {
  readonly topologyKey: string;
  /** undefined selects nothing. */
  readonly selector: LabelSelector | undefined;
  readonly namespaces: readonly string[];
  /** undefined: only {@link namespaces} count. */
  readonly namespaceSelector: LabelSelector | undefined;
}

/** A constraint with `whenUnsatisfiable: DoNotSchedule`. */
export interface TopologySpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: LabelSelector | undefined;
  readonly honoursAffinity: boolean;
  readonly honoursTaints: boolean;
}

export interface DisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  /** undefined or empty: the budget matches no Pod. */
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** Names of Pods whose eviction the API server has already allowed. */
  readonly disrupted: ReadonlySet<string>;
}

/** A PodGang. */
export interface Gang {
  readonly namespace: string;
  readonly name: string;
  readonly mode: DisruptionMode;
  /** undefined where the gang names no class, or the class does not exist: then the Pods' own priorities count. */
  readonly priority: number | undefined;
  /** The priority that a preemptor has to exceed; the scheduling priority unless the gang says otherwise. */
  readonly preemptionPriority: number | undefined;
  /** False where the gang's annotation, or its class for gangs, says `Never`. */
  readonly preempts: boolean;
  /** Name of its class, named or default; `''` without one. */
  readonly className: string;
  readonly groups: readonly { readonly name: string; readonly minReplicas: number }[];
  /** Which Pods have to be in the same domain; undefined: none. */
  readonly topology: Topology | undefined;
}

/** Pods of a gang that have to be in one domain: on nodes with the same value of a label. */
export interface Scope {
  /** The groups whose Pods belong to the scope; undefined: the whole gang. */
  readonly groups: readonly string[] | undefined;
  /** Key of the label. */
  readonly key: string;
}

/** The topology constraints of a gang: first those for the whole gang, then for several groups, then for one. */
export interface Topology {
  readonly required: readonly Scope[];
  /** Constraints that are met only where that costs no further victims. */
  readonly preferred: readonly Scope[];
}

/** A native PodGroup (scheduling.k8s.io). */
export interface NativeGroup {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly mode: DisruptionMode;
  readonly priority: number;
  /** Whether the group preempts; undefined where it does not say so and its Pods decide. */
  readonly preempts: boolean | undefined;
  /** Minimum of Pods; 1 for a group that is no gang. */
  readonly minCount: number;
  /** Label that the nodes of all Pods must have with the same value; undefined: no constraint. */
  readonly topologyKey: string | undefined;
}

export const namespacedKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** Compares by code units, so that the order is the same on every machine. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Whether the scope includes this Pod. */
export const speaksOf = ({ groups }: Scope, { group }: Pick<Pod, 'group'>): boolean =>
  groups === undefined || groups.includes(group);

/** Whether two Pods without a node may use the same nodes and prefer them equally, apart from inter-Pod constraints. */
export const isAlike = (a: Pod, b: Pod): boolean =>
  a.constraints === b.constraints &&
  a.scored.cpu === b.scored.cpu &&
  a.scored.memory === b.scored.memory &&
  sameResources(a.requests, b.requests);

/** The first Pod of each kind, in the order of the Pods. */
export function kindsOf(pods: readonly Pod[]): Pod[] {
  const kinds: Pod[] = [];
  for (const pod of pods) if (!kinds.some((one) => isAlike(one, pod))) kinds.push(pod);
  return kinds;
}

/** Whether both have the same amounts. */
function sameResources(a: Resources, b: Resources): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, count] of a) if (b.get(name) !== count) return false;
  return true;
}
