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

/** A gang that does not fit, or a Pod that is in none. */
export interface Preemptor {
  readonly kind: 'Gang' | 'Pod';
  /** `namespace/name`. */
  readonly key: string;
  /** Its scheduling priority: only units strictly below can be preempted. */
  readonly priority: number;
  /** False: it waits until it fits. */
  readonly preempts: boolean;
  /** Those that have no node yet, in the order in which they are placed. */
  readonly pods: readonly Pod[];
  /** What has to be placed together; a Pod beyond its group's count is welcome, not needed. */
  readonly minimums: readonly Minimum[];
  /** Which of its Pods belong together; undefined: they may be anywhere. */
  readonly topology?: Topology | undefined;
  /** Why its scheduler does not even try it; undefined: it does. */
  readonly untried?: Refusal | undefined;
  /** Whether a running Pod is one of its own: it is never its own victim. */
  owns(pod: Pod): boolean;
}

export interface Minimum {
  /** Of {@link Pod.group}; undefined: all Pods count. */
  readonly group: string | undefined;
  /** How many of {@link Preemptor.pods} are needed, less those that run already. */
  readonly count: number;
}

/** How many Pods count for a minimum. */
export function counted({ group }: Minimum, pods: Iterable<Pod>): number {
  let count = 0;
  for (const pod of pods) if (group === undefined || pod.group === group) count += 1;
  return count;
}

/** What is still needed while Pods of a preemptor are placed one after the other. */
export class UnmetMinimums {
  readonly #left: Map<string | undefined, number>;

  constructor(minimums: readonly Minimum[]) {
    this.#left = new Map(minimums.map(({ group, count }) => [group, count]));
  }

  /** Whether some minimum is not met without this Pod, or another one like it. */
  wants({ group }: Pod): boolean {
    return (this.#left.get(undefined) ?? 0) > 0 || (this.#left.get(group) ?? 0) > 0;
  }

  /** The Pod is placed. */
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

/** Pods without a node that belong together, and the cluster that they wait for. */
interface WaitingPods {
  readonly pods: readonly Pod[];
  readonly first: Pod;
  readonly snapshot: Snapshot;
  readonly variant: Variant;
}

/**
 * The preemptor that Pods without a node make up: one gang, or one Pod in none. kube-scheduler knows native PodGroups alone;
 * for Muster a PodGang comes first, since its PodGroups are only made of it.
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
  // kube-scheduler starts nothing of a group of which no Pod has a place, however many run.
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
 * What it preempts with: the least of its class and its Pods' own priorities, since quotas, and whoever else admits Pods, know
 * nothing of a class that stands on the group alone. kube-scheduler goes by the group's.
 */
function priorityOf(ofClass: number | undefined, pods: readonly Pod[], variant: Variant): number {
  if (ofClass !== undefined && BEHAVIOUR[variant].scheduler !== undefined) return ofClass;
  const own = pods.map(({ priority, classless }) => (classless === true ? (ofClass ?? priority) : priority));
  return Math.min(ofClass ?? Infinity, ...own);
}

/**
 * Of a class that says Never a Pod preempts nobody by itself; whoever keeps the class may say that gangs of it do. It is the
 * Pod's own class that counts, for the reason that its priority does.
 */
function mayPreempt(
  { preempts, className, classless }: Pod,
  gang: Gang | undefined,
  { classes }: Snapshot,
): boolean {
  const found = classes.get(classless === true ? (gang?.className ?? className) : className);
  return preempts || found?.ofGangs === 'PreemptLowerPriority';
}

/** What a Pod is once it is stored: without a class of its own it has that of its gang. */
function asCreated(pod: Pod, gang: Gang | undefined, { classes }: Snapshot): Pod {
  if (pod.classless !== true || gang === undefined) return pod;
  const { preempts = pod.preempts } = classes.get(gang.className) ?? {};
  return { ...pod, priority: gang.priority ?? pod.priority, preempts };
}

const wholeGang = (key: string): Topology => ({ required: [{ groups: undefined, key }], preferred: [] });

/** What becomes of a PodGang's constraints in the native gang that stands for all its groups: the narrowest for all of them. */
function nativeTopology({ topology, groups }: Gang): Topology | undefined {
  const narrowest = topology?.required.findLast((scope) =>
    groups.every(({ name }) => speaksOf(scope, { group: name })),
  );
  return narrowest && wholeGang(narrowest.key);
}

/** Of the PodGang; without one every Pod that is there has to start. */
function minimumsOf(gang: Gang | undefined, pods: readonly Pod[]): Minimum[] {
  if (gang !== undefined)
    return gang.groups.map(({ name, minReplicas }) => ({ group: name, count: minReplicas }));
  const groups = [...new Set(pods.map(({ group }) => group))];
  return groups.map((group) => ({ group, count: counted({ group, count: 0 }, pods) }));
}

/** Members that run already count for their group. */
const left = (minimums: readonly Minimum[], running: readonly Pod[]): Minimum[] =>
  minimums.map((one) => ({ ...one, count: Math.max(one.count - counted(one, running), 0) }));

/**
 * Why kube-scheduler 1.37 does not try a group: a Pod of it that waits or runs has another priority than the group, or
 * another preemption policy than the group or, where the group has none, than the first of its Pods.
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
