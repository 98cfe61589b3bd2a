import type { Preemptor } from './preemptor.ts';
import { compareText, namespacedKey, type Pod, type Snapshot } from './snapshot.ts';
import { BEHAVIOUR, type Variant, type VariantBehaviour } from './variants.ts';

/** What is preempted as one, or not at all. */
export interface PreemptionUnit {
  readonly kind: 'Pod' | 'PodGang' | 'PodGroup';
  readonly namespace: string;
  readonly name: string;
  /** What it costs to preempt it: a preemptor has to be strictly above. */
  readonly priority: number;
  /** Its running Pods, by name. */
  readonly pods: readonly Pod[];
  /** Whether it counts as more important than a single Pod of the same priority. */
  readonly grouped: boolean;
  /** Milliseconds since 1970 of its earliest Pod; Infinity where none has started. */
  readonly start: number;
}

/** Everything that runs, as units; without what is the preemptor's own and what is going away already. */
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
    // Of a gang without a class: who takes one of its Pods takes the most important of them as well.
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

/** What it costs the preemptor that the Pod goes. */
export const costOfPod = (pod: Pod, preemptor: Preemptor, snapshot: Snapshot, variant: Variant): number =>
  membershipFor(preemptor, pod, snapshot, variant).priority;

function membershipFor({ kind }: Preemptor, pod: Pod, snapshot: Snapshot, variant: Variant): Membership {
  const ways = BEHAVIOUR[variant];
  return kind === 'Pod' && !ways.podsSeeGroups
    ? single(pod, pod.priority, false)
    : membership(pod, snapshot, ways);
}

/**
 * The unit that a Pod belongs to. For the document a PodGang of Muster's comes first, since its native PodGroups are
 * only made of it; kube-scheduler knows native PodGroups alone.
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
  // kube-scheduler takes every Pod with a scheduling group for one; the document speaks of units.
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
 * The most important first: by priority; groups before single Pods; of groups the larger; whoever started earlier. Then
 * by name, where kube-scheduler leaves it to chance.
 */
export function byImportance(a: PreemptionUnit, b: PreemptionUnit): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.grouped !== b.grouped) return a.grouped ? -1 : 1;
  if (a.grouped && a.pods.length !== b.pods.length) return b.pods.length - a.pods.length;
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return compareText(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`) || compareText(a.kind, b.kind);
}
