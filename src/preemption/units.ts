import type { Preemptor } from './preemptor.ts';
import { compareText, namespacedKey, type Pod, type Snapshot } from './snapshot.ts';
import { BEHAVIOUR, type Variant, type VariantBehaviour } from './variants.ts';

/** Pods that are preempted together or not at all. */
export interface PreemptionUnit {
  readonly kind: 'Pod' | 'PodGang' | 'PodGroup';
  readonly namespace: string;
  readonly name: string;
  /** A preemptor needs a higher priority than this. */
  readonly priority: number;
  /** Its running Pods. */
  readonly pods: readonly Pod[];
  /** Whether it counts as more important than a single Pod of the same priority. */
  readonly grouped: boolean;
  /** Milliseconds since 1970 at which its first Pod started; Infinity where none has started. */
  readonly start: number;
}

/** All running Pods as units, without the preemptor's own Pods and, in the document's algorithm, terminating Pods. */
export function preemptionUnitsOf(
  snapshot: Snapshot,
  preemptor: Preemptor,
  variant: Variant,
): PreemptionUnit[] {
  const units: PreemptionUnit[] = [];
  const together = new Map<string, { readonly of: Membership; readonly pods: Pod[]; priority: number }>();
  const { scheduler } = BEHAVIOUR[variant];
  for (const pod of snapshot.pods) {
    if (preemptor.owns(pod) || (scheduler === undefined && pod.terminating)) continue;
    const of = membershipFor(preemptor, pod, snapshot, variant);
    if (of.kind === 'Pod') {
      units.push(unit(of, [pod]));
      continue;
    }
    const key = `${of.kind} ${of.namespace}/${of.name}`;
    const whole = together.getOrInsert(key, { of, pods: [], priority: of.priority });
    whole.pods.push(pod);
    // In a gang without a class the Pod with the highest priority counts, since all Pods are preempted together.
    whole.priority = Math.max(whole.priority, of.priority);
  }
  for (const { of, pods, priority } of together.values()) units.push(unit({ ...of, priority }, pods));
  return units;
}

type Membership = Pick<PreemptionUnit, 'kind' | 'namespace' | 'name' | 'priority' | 'grouped'>;

const unit = (
  { kind, namespace, name, priority, grouped }: Membership,
  pods: readonly Pod[],
): PreemptionUnit => ({
  kind,
  namespace,
  name,
  priority,
  grouped,
  pods,
  start: pods.reduce((earliest, { startTime = Infinity }) => Math.min(earliest, startTime), Infinity),
});

/** The priority that a preemptor has to exceed to preempt the Pod. */
export const costOfPod = (pod: Pod, preemptor: Preemptor, snapshot: Snapshot, variant: Variant): number =>
  membershipFor(preemptor, pod, snapshot, variant).priority;

function membershipFor({ kind }: Preemptor, pod: Pod, snapshot: Snapshot, variant: Variant): Membership {
  const ways = BEHAVIOUR[variant];
  return kind === 'Pod' && !ways.podsSeeGroups
    ? single(pod, pod.priority, false)
    : membership(pod, snapshot, ways);
}

/**
 * The unit of a Pod. The document's algorithm reads the PodGang first, since Muster made the native PodGroups from it;
 * kube-scheduler knows native PodGroups alone.
 */
function membership(
  pod: Pod,
  snapshot: Snapshot,
  { scheduler, membersCostTheirGroup }: VariantBehaviour,
): Membership {
  const { namespace } = pod;
  const native =
    pod.podGroup === '' ? undefined : snapshot.podGroups.get(namespacedKey(namespace, pod.podGroup));
  const gang =
    scheduler === undefined && pod.gang !== ''
      ? snapshot.gangs.get(namespacedKey(namespace, pod.gang))
      : undefined;
  if (gang?.mode === 'PodGroup') {
    const priority = gang.preemptionPriority ?? pod.priority;
    return { kind: 'PodGang', namespace, name: gang.name, priority, grouped: true };
  }
  if (gang === undefined && native?.mode === 'PodGroup')
    return { kind: 'PodGroup', namespace, name: native.name, priority: native.priority, grouped: true };
  const ofGroup = membersCostTheirGroup ? (gang?.preemptionPriority ?? native?.priority) : undefined;
  // kube-scheduler counts every Pod with a scheduling group as grouped, the document only units.
  return single(pod, ofGroup ?? pod.priority, scheduler !== undefined && pod.podGroup !== '');
}

const single = ({ namespace, name }: Pod, priority: number, grouped: boolean): Membership => ({
  kind: 'Pod',
  namespace,
  name,
  priority,
  grouped,
});

/**
 * Sorts the most important first: by priority; groups before single Pods; larger groups first; earlier start first; then by
 * name, where kube-scheduler chooses at random.
 */
export function byImportance(a: PreemptionUnit, b: PreemptionUnit): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.grouped !== b.grouped) return a.grouped ? -1 : 1;
  if (a.grouped && a.pods.length !== b.pods.length) return b.pods.length - a.pods.length;
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return compareText(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`) || compareText(a.kind, b.kind);
}
