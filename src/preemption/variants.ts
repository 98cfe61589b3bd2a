import { parseGroupVersion } from '../k8s/resource.ts';

/** The algorithm of a plan: the document's (`kep`), or that of a kube-scheduler release. */
export const VARIANTS = ['kep', 'kube-1.36', 'kube-1.37'] as const;
export type Variant = (typeof VARIANTS)[number];

/** The variant by version of the `scheduling.k8s.io` PodGroup; the newest known variant for a version that is not known. */
const OF_VERSION: Readonly<Record<string, Variant>> = {
  v1alpha2: 'kube-1.36',
  v1alpha3: 'kube-1.37',
  v1beta1: 'kube-1.37',
  v1: 'kube-1.37',
};

/**
 * The variant that behaves like the kube-scheduler of a cluster with PodGroups of this version.
 * @param apiVersion such as `scheduling.k8s.io/v1beta1`; undefined where the cluster has no PodGroups
 * @returns undefined where kube-scheduler knows no gangs
 */
export function variantOfGroups(apiVersion: string | undefined): Variant | undefined {
  const { group, version } = parseGroupVersion(apiVersion ?? '');
  return group === 'scheduling.k8s.io' ? OF_VERSION[version] : undefined;
}

/** The differences between the algorithms. */
export interface VariantBehaviour {
  /**
   * The kube-scheduler release, which knows native PodGroups alone and counts terminating Pods as victims; undefined: the
   * document's algorithm.
   */
  readonly scheduler: string | undefined;
  /** Whether a single Pod preempts groups as units. */
  readonly podsSeeGroups: boolean;
  /** Whether a Pod that is disrupted alone has the preemption priority of its group. */
  readonly membersCostTheirGroup: boolean;
  /** Whether nodes are compared by the priorities and broken budgets of Pods, not of units. */
  readonly costsCountPods: boolean;
  /**
   * How units are spared when a gang preempts. `above a priority`: beside the gang where it is assumed, after a search for
   * the lowest sufficient priority. `anew`: with the gang placed again for each unit. `in turn`: beside all Pods of the gang
   * that found a node with all units gone, judged in the order of placement.
   */
  readonly spares: 'above a priority' | 'anew' | 'in turn';
  /**
   * The violation after which budgets are not charged any more: the first of the unit, or of the Pod; undefined: all are
   * charged.
   */
  readonly chargesUntil: Readonly<Record<'Gang' | 'Pod', 'unit' | 'Pod' | undefined>>;
  /** Kinds of preemptors that preempt nothing more while Pods are being preempted on their nominated nodes. */
  readonly waitsWhereNominated: readonly ('Gang' | 'Pod')[];
  /** Whether Pods are preempted for a gang with a topology constraint. */
  readonly preemptsInDomains: boolean;
  /** Whether a gang is not tried at all if one of its Pods has another priority or preemption policy. */
  readonly wantsPodsAlike: boolean;
}

export const BEHAVIOUR: Readonly<Record<Variant, VariantBehaviour>> = {
  kep: {
    scheduler: undefined,
    podsSeeGroups: true,
    membersCostTheirGroup: true,
    costsCountPods: false,
    spares: 'above a priority',
    chargesUntil: { Gang: undefined, Pod: undefined },
    waitsWhereNominated: [],
    preemptsInDomains: true,
    wantsPodsAlike: false,
  },
  'kube-1.36': {
    scheduler: '1.36',
    podsSeeGroups: false,
    membersCostTheirGroup: false,
    costsCountPods: true,
    spares: 'anew',
    chargesUntil: { Gang: 'unit', Pod: undefined },
    waitsWhereNominated: ['Pod'],
    preemptsInDomains: false,
    wantsPodsAlike: false,
  },
  'kube-1.37': {
    scheduler: '1.37',
    podsSeeGroups: true,
    membersCostTheirGroup: true,
    costsCountPods: true,
    spares: 'in turn',
    chargesUntil: { Gang: 'Pod', Pod: 'Pod' },
    waitsWhereNominated: ['Gang', 'Pod'],
    preemptsInDomains: true,
    wantsPodsAlike: true,
  },
};
