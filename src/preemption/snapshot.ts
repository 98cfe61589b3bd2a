import type { DisruptionMode } from '../api/preemption-terms.ts';
import type { PriorityClass } from '../api/priority-class.ts';
import type { LabelSelector } from '../k8s/label-selector.ts';
import type { Labels, Resources } from '../k8s/field-reader.ts';
import type { Taint, Toleration } from '../k8s/taints.ts';

export type { Labels, Resources } from '../k8s/field-reader.ts';
export type { Taint, Toleration } from '../k8s/taints.ts';

/**
 * A cluster at one moment, trimmed to what decides where Pods fit and which of them have to go. Plain data: taken from
 * a file or from an API server, never asked for again.
 */
export interface Snapshot {
  readonly nodes: readonly Node[];
  /** Pods on nodes that have not ended. */
  readonly pods: readonly Pod[];
  readonly budgets: readonly DisruptionBudget[];
  readonly classes: ReadonlyMap<string, PriorityClass>;
  /** PodGangs, by `namespace/name`. */
  readonly gangs: ReadonlyMap<string, Gang>;
  /** Native PodGroups (scheduling.k8s.io), by `namespace/name`. */
  readonly podGroups: ReadonlyMap<string, NativeGroup>;
  /** Labels of Namespaces, for selectors of namespaces in (anti-)affinity; empty where none were given. */
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
  /** `''` where it names none. */
  readonly className: string;
  /** It is not stored yet and names no class: at its creation it gets that of its gang. */
  readonly classless?: true;
  /** False with `preemptionPolicy: Never`. */
  readonly preempts: boolean;
  /** `''` while unbound. */
  readonly nodeName: string;
  /** Milliseconds since 1970; undefined where it never started. */
  readonly startTime: number | undefined;
  readonly terminating: boolean;
  /** Why it is told to go: the reason of its condition DisruptionTarget, `''` without. */
  readonly disruption: string;
  /** The node that is being cleared for it, `''` without. */
  readonly nominatedNode: string;
  readonly requests: Resources;
  /** As the scheduler's scores count it: 100m and 200Mi for a container that asks for nothing. */
  readonly scored: { readonly cpu: number; readonly memory: number };
  readonly constraints: Constraints;
  /** Label `grove.io/podgang`, `''` without. */
  readonly gang: string;
  /** Label `grove.io/podclique`, `''` without. */
  readonly group: string;
  /** `spec.schedulingGroup.podGroupName`, `''` without. */
  readonly podGroup: string;
}

/** Where a Pod may be. Pods of one template share one of these, so what follows from it is worked out once. */
export interface Constraints {
  readonly nodeSelector: Labels;
  /** One of these has to hold; undefined: every node is fine. */
  readonly requiredNodes: readonly NodeSelectorTerm[] | undefined;
  readonly preferredNodes: readonly { readonly weight: number; readonly term: NodeSelectorTerm }[];
  /** Of bound volumes: one term of each list has to hold. */
  readonly volumeNodes: readonly (readonly NodeSelectorTerm[])[];
  readonly tolerations: readonly Toleration[];
  readonly ports: readonly HostPort[];
  readonly affinity: readonly PodAffinityTerm[];
  readonly antiAffinity: readonly PodAffinityTerm[];
  readonly spread: readonly TopologySpreadConstraint[];
}

/** Every requirement has to hold; a term without any holds nowhere. */
export interface NodeSelectorTerm {
  readonly labels: readonly NodeSelectorRequirement[];
  /** Only `metadata.name` is known to Kubernetes. */
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
  /** undefined: only {@link namespaces}. */
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
  /** undefined or empty: no Pod. */
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** Names of Pods whose eviction the API server has let through already. */
  readonly disrupted: ReadonlySet<string>;
}

/** A PodGang. */
export interface Gang {
  readonly namespace: string;
  readonly name: string;
  readonly mode: DisruptionMode;
  /** undefined where no class is named, or the class is not there: its Pods' own then. */
  readonly priority: number | undefined;
  /** What it costs to preempt it; the scheduling priority where nothing else is said. */
  readonly preemptionPriority: number | undefined;
  /** False where it says so itself, or its class says that gangs of it do not. */
  readonly preempts: boolean;
  /** The class that it has, also by default; `''` without one. */
  readonly className: string;
  readonly groups: readonly { readonly name: string; readonly minReplicas: number }[];
  /** Which of its Pods belong into one domain; undefined: they may be anywhere. */
  readonly topology: Topology | undefined;
}

/** Pods of a gang that belong into one domain: nodes with the same value of a label. */
export interface Scope {
  /** The groups whose Pods they are; undefined: the whole gang. */
  readonly groups: readonly string[] | undefined;
  /** The label. */
  readonly key: string;
}

/** What a gang says of where its Pods are to be together: for all of it first, then for several groups, then for one. */
export interface Topology {
  readonly required: readonly Scope[];
  /** Kept where that costs nobody anything. */
  readonly preferred: readonly Scope[];
}

/** A PodGroup of Kubernetes itself. */
export interface NativeGroup {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly mode: DisruptionMode;
  readonly priority: number;
  /** Whether it preempts, where it says so itself; undefined: its Pods do. */
  readonly preempts: boolean | undefined;
  /** 1 for a group that is no gang. */
  readonly minCount: number;
  /** The label whose value all its Pods' nodes have in common; undefined: they may be anywhere. */
  readonly topologyKey: string | undefined;
}

export const namespacedKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** By code units, so that the order is the same everywhere. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Whether the Pods of a scope include this one. */
export const speaksOf = ({ groups }: Scope, { group }: Pick<Pod, 'group'>): boolean =>
  groups === undefined || groups.includes(group);

/** Whether two Pods without a node may go to the same nodes, and like them as much; who is near aside. */
export const isAlike = (a: Pod, b: Pod): boolean =>
  a.constraints === b.constraints &&
  a.scored.cpu === b.scored.cpu &&
  a.scored.memory === b.scored.memory &&
  sameResources(a.requests, b.requests);

/** The first Pod of each kind, in order. */
export function kindsOf(pods: readonly Pod[]): Pod[] {
  const kinds: Pod[] = [];
  for (const pod of pods) if (!kinds.some((one) => isAlike(one, pod))) kinds.push(pod);
  return kinds;
}

/** Whether both ask for the same. */
function sameResources(a: Resources, b: Resources): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [name, count] of a) if (b.get(name) !== count) return false;
  return true;
}
