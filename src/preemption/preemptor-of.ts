import { counted, type Minimum, type Preemptor } from './preemptor.ts';
import { namespacedKey, type Gang, type Pod, type Snapshot, type Topology } from './snapshot.ts';
import { speaksOf } from './topology.ts';
import { unlikeGroup } from './unlike.ts';
import { BEHAVIOUR, type Variant } from './variants.ts';

/**
 * The preemptor that Pods without a node make up: one gang, or one Pod in none.
 * @param pods at least one, all of the same gang
 */
export function preemptorOf(pods: readonly Pod[], snapshot: Snapshot, variant: Variant): Preemptor {
  const [first] = pods;
  if (first === undefined) throw new RangeError('a preemptor has at least one Pod');
  const { namespace } = first;
  const native =
    first.podGroup === '' ? undefined : snapshot.podGroups.get(namespacedKey(namespace, first.podGroup));
  const gang = first.gang === '' ? undefined : snapshot.gangs.get(namespacedKey(namespace, first.gang));
  const ordered = [...pods].sort((a, b) => b.priority - a.priority);
  const { scheduler, wantsPodsAlike } = BEHAVIOUR[variant];
  const preempts = pods.every((pod) => pod.preempts);
  if (native !== undefined && (scheduler !== undefined || first.gang === '')) {
    const owns = (pod: Pod): boolean => pod.namespace === namespace && pod.podGroup === first.podGroup;
    const { topologyKey } = native;
    const priority = priorityOf(native.priority, pods, variant);
    const running = snapshot.pods.filter(owns);
    const [minimum] = left([{ group: undefined, count: native.minCount }], running);
    // kube-scheduler starts nothing of a group of which no Pod has a place, however many run.
    const least = scheduler === undefined ? 0 : 1;
    const asOne = { priority, preempts: native.preempts ?? first.preempts };
    return {
      ...{ kind: 'Gang', key: namespacedKey(namespace, native.name), priority, pods: ordered, owns },
      preempts: wantsPodsAlike ? asOne.preempts : preempts,
      untried: wantsPodsAlike ? unlikeGroup([...ordered, ...running], asOne) : undefined,
      minimums: [{ group: undefined, count: Math.max(minimum?.count ?? 0, least) }],
      topology: topologyKey === undefined ? undefined : wholeGang(topologyKey),
    };
  }
  if (first.gang === '') {
    const owns = (pod: Pod): boolean => pod.key === first.key;
    const minimums = [{ group: undefined, count: 1 }];
    return { kind: 'Pod', key: first.key, priority: first.priority, preempts, pods: [first], minimums, owns };
  }
  const owns = (pod: Pod): boolean => pod.namespace === namespace && pod.gang === first.gang;
  const priority = priorityOf(gang?.priority, pods, variant);
  const running = snapshot.pods.filter(owns);
  const created = pods.map((pod) => asCreated(pod, gang, snapshot));
  return {
    ...{ kind: 'Gang', key: namespacedKey(namespace, first.gang), priority },
    preempts:
      scheduler === undefined
        ? gang?.preempts !== false && pods.every((pod) => mayPreempt(pod, gang, snapshot))
        : created.every((pod) => pod.preempts),
    untried: wantsPodsAlike
      ? unlikeGroup([...created, ...running], { priority, preempts: created.every((pod) => pod.preempts) })
      : undefined,
    pods: ordered,
    minimums: left(minimumsOf(gang, pods), running),
    topology: scheduler === undefined ? gang?.topology : gang && nativeTopology(gang),
    owns,
  };
}

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
