import type { Refusal } from './refusal.ts';
import {
  namespacedKey,
  speaksOf,
  type Pod,
  type Topology,
  type Gang,
  type NativeGroup,
  type Snapshot,
} from './snapshot.ts';
import { BEHAVIOUR, type Variant } from './variants.ts';

/** A gang that does not fit, or a single Pod that is in no gang. */
export interface Preemptor {
  readonly kind: 'Gang' | 'Pod';
  /** `namespace/name`. */
  readonly key: string;
  /** Its scheduling priority: only units strictly below can be preempted. */
  readonly priority: number;
  /** False where the preemptor evicts nothing and waits until it fits. */
  readonly preempts: boolean;
  /** Its Pods without a node, in the order of placement. */
  readonly pods: readonly Pod[];
  /** The Pods that have to be placed together. Pods beyond a minimum are placed where they fit. */
  readonly minimums: readonly Minimum[];
  /** Which Pods have to be in the same domain; undefined: none. */
  readonly topology?: Topology | undefined;
  /** Why its scheduler does not even try to place it; undefined where it does. */
  readonly untried?: Refusal | undefined;
  /** Whether a running Pod belongs to the preemptor, and so is never a victim. */
  owns(pod: Pod): boolean;
}

export interface Minimum {
  /** The {@link Pod.group} that counts; undefined: all Pods count. */
  readonly group: string | undefined;
  /** How many of {@link Preemptor.pods} are needed, beside those that run already. */
  readonly count: number;
}

/** How many of the Pods count for a minimum. */
export function counted({ group }: Minimum, pods: Iterable<Pod>): number {
  let count = 0;
  for (const pod of pods) if (group === undefined || pod.group === group) count += 1;
  return count;
}

/** The minimums that are still unmet while Pods of a preemptor are placed one after the other. */
export class UnmetMinimums {
  readonly #left: Map<string | undefined, number>;

  constructor(minimums: readonly Minimum[]) {
    this.#left = new Map(minimums.map(({ group, count }) => [group, count]));
  }

  /** Whether some minimum is not met without this Pod, or another of its group. */
  wants({ group }: Pod): boolean {
    return (this.#left.get(undefined) ?? 0) > 0 || (this.#left.get(group) ?? 0) > 0;
  }

  /** Called when the Pod was placed. */
  met({ group }: Pod): void {
    for (const one of [undefined, group]) {
      const left = this.#left.get(one);
      if (left !== undefined) this.#left.set(one, left - 1);
    }
  }

  get areMet(): boolean {
    for (const left of this.#left.values()) if (left > 0) return false;
    return true;
  }
}

/** Pods of one gang without a node, and the cluster in which they wait. */
interface WaitingPods {
  readonly pods: readonly Pod[];
  readonly first: Pod;
  readonly snapshot: Snapshot;
  readonly variant: Variant;
}

/**
 * Builds the preemptor from waiting Pods: a gang, or a single Pod in no gang. kube-scheduler knows native PodGroups alone;
 * Muster reads the PodGang first, since it made the PodGroups from it.
 * @param pods at least one, all of the same gang
 */
export function preemptorOf(pods: readonly Pod[], snapshot: Snapshot, variant: Variant): Preemptor {
  const [first] = pods;
  if (first === undefined) throw new RangeError('a preemptor has at least one Pod');
  const waiting = { pods, first, snapshot, variant };
  const { namespace, podGroup, gang } = first;
  const native = podGroup === '' ? undefined : snapshot.podGroups.get(namespacedKey(namespace, podGroup));
  if (native !== undefined && (BEHAVIOUR[variant].scheduler !== undefined || gang === ''))
    return nativePreemptor(waiting, native);
  return gang === '' ? podPreemptor(waiting) : gangPreemptor(waiting);
}

function podPreemptor({ pods, first }: WaitingPods): Preemptor {
  return {
    ...{ kind: 'Pod', key: first.key, priority: first.priority, pods: [first] },
    preempts: pods.every((pod) => pod.preempts),
    minimums: [{ group: undefined, count: 1 }],
    owns: (pod) => pod.key === first.key,
  };
}

function nativePreemptor({ pods, first, snapshot, variant }: WaitingPods, native: NativeGroup): Preemptor {
  const { namespace, podGroup } = first;
  const { scheduler, wantsPodsAlike } = BEHAVIOUR[variant];
  const owns = (pod: Pod): boolean => pod.namespace === namespace && pod.podGroup === podGroup;
  const priority = priorityOf(native.priority, pods, variant);
  const ordered = byPriorityDown(pods);
  const running = snapshot.pods.filter(owns);
  const [minimum] = left([{ group: undefined, count: native.minCount }], running);
  // kube-scheduler starts no Pod of a group unless some waiting Pod of it fits, however many run.
  const least = scheduler === undefined ? 0 : 1;
  const group = { priority, preempts: native.preempts ?? first.preempts };
  return {
    ...{ kind: 'Gang', key: namespacedKey(namespace, native.name), priority, pods: ordered, owns },
    preempts: wantsPodsAlike ? group.preempts : pods.every((pod) => pod.preempts),
    untried: wantsPodsAlike ? unlikeGroup([...ordered, ...running], group) : undefined,
    minimums: [{ group: undefined, count: Math.max(minimum?.count ?? 0, least) }],
    topology: native.topologyKey === undefined ? undefined : wholeGang(native.topologyKey),
  };
}

function gangPreemptor({ pods, first, snapshot, variant }: WaitingPods): Preemptor {
  const { namespace } = first;
  const gang = snapshot.gangs.get(namespacedKey(namespace, first.gang));
  const { scheduler, wantsPodsAlike } = BEHAVIOUR[variant];
  const owns = (pod: Pod): boolean => pod.namespace === namespace && pod.gang === first.gang;
  const priority = priorityOf(gang?.priority, pods, variant);
  const running = snapshot.pods.filter(owns);
  const created = pods.map((pod) => asCreated(pod, gang, snapshot));
  const group = { priority, preempts: created.every((pod) => pod.preempts) };
  return {
    ...{ kind: 'Gang', key: namespacedKey(namespace, first.gang), priority, owns },
    preempts:
      scheduler === undefined
        ? gang?.preempts !== false && pods.every((pod) => mayPreempt(pod, gang, snapshot))
        : group.preempts,
    untried: wantsPodsAlike ? unlikeGroup([...created, ...running], group) : undefined,
    pods: byPriorityDown(pods),
    minimums: left(minimumsOf(gang, pods), running),
    topology: scheduler === undefined ? gang?.topology : gang && nativeTopology(gang),
  };
}

const byPriorityDown = (pods: readonly Pod[]): Pod[] => [...pods].sort((a, b) => b.priority - a.priority);

/**
 * The priority with which the gang preempts: the lowest of its class and its Pods' own priorities, since quotas and other
 * admission checks see the Pods' classes only. kube-scheduler uses the group's.
 */
function priorityOf(ofClass: number | undefined, pods: readonly Pod[], variant: Variant): number {
  if (ofClass !== undefined && BEHAVIOUR[variant].scheduler !== undefined) return ofClass;
  const own = pods.map(({ priority, classless }) => (classless === true ? (ofClass ?? priority) : priority));
  return Math.min(ofClass ?? Infinity, ...own);
}

/**
 * Whether the Pod lets its gang preempt. A Pod of a class with `Never` preempts nothing by itself, but its class may say
 * that gangs of it do. The Pod's own class counts, as for the priority.
 */
function mayPreempt(
  { preempts, className, classless }: Pod,
  gang: Gang | undefined,
  { classes }: Snapshot,
): boolean {
  const found = classes.get(classless === true ? (gang?.className ?? className) : className);
  return preempts || found?.ofGangs === 'PreemptLowerPriority';
}

/** The Pod as it will be stored: without a class of its own it gets the class of its gang. */
function asCreated(pod: Pod, gang: Gang | undefined, { classes }: Snapshot): Pod {
  if (pod.classless !== true || gang === undefined) return pod;
  const { preempts = pod.preempts } = classes.get(gang.className) ?? {};
  return { ...pod, priority: gang.priority ?? pod.priority, preempts };
}

const wholeGang = (key: string): Topology => ({ required: [{ groups: undefined, key }], preferred: [] });

/**
 * The topology of the one native gang that a PodGang becomes: the narrowest required constraint that holds for all groups.
 */
function nativeTopology({ topology, groups }: Gang): Topology | undefined {
  const narrowest = topology?.required.findLast((scope) =>
    groups.every(({ name }) => speaksOf(scope, { group: name })),
  );
  return narrowest && wholeGang(narrowest.key);
}

/** The minimums of the PodGang; without a PodGang every existing Pod has to start. */
function minimumsOf(gang: Gang | undefined, pods: readonly Pod[]): Minimum[] {
  if (gang !== undefined)
    return gang.groups.map(({ name, minReplicas }) => ({ group: name, count: minReplicas }));
  const groups = [...new Set(pods.map(({ group }) => group))];
  return groups.map((group) => ({ group, count: counted({ group, count: 0 }, pods) }));
}

/** The minimums less the running Pods of each group. */
const left = (minimums: readonly Minimum[], running: readonly Pod[]): Minimum[] =>
  minimums.map((one) => ({ ...one, count: Math.max(one.count - counted(one, running), 0) }));

/**
 * Why kube-scheduler 1.37 does not try a group: a waiting or running Pod has another priority than the group, or another
 * preemption policy than the group or, where the group has none, than its first Pod.
 */
function unlikeGroup(
  pods: Iterable<Pod>,
  group: { readonly priority: number; readonly preempts: boolean },
): Refusal | undefined {
  for (const { namespace, name, priority, preempts } of pods) {
    const pod = { namespace, name };
    if (priority !== group.priority)
      return {
        ...{ why: 'PodUnlikeGroup', pod, field: 'priority' },
        ...{ has: String(priority), group: String(group.priority) },
      };
    if (preempts !== group.preempts)
      return {
        ...{ why: 'PodUnlikeGroup', pod, field: 'preemptionPolicy' },
        ...{ has: policyOf(preempts), group: policyOf(group.preempts) },
      };
  }
  return undefined;
}

const policyOf = (preempts: boolean): string => (preempts ? 'PreemptLowerPriority' : 'Never');
