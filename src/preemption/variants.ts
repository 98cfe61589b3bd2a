import { parseGroupVersion } from '../k8s/resource.ts';

/** Which algorithm plans: the document's, or what a release of kube-scheduler does. */
export const VARIANTS = ['kep', 'kube-1.36', 'kube-1.37'] as const;
export type Variant = (typeof VARIANTS)[number];

/** By the version of `scheduling.k8s.io` that has PodGroups; of one that nobody knows yet the newest that is known. */
const OF_VERSION: Readonly<Record<string, Variant>> = {
  v1alpha2: 'kube-1.36',
  v1alpha3: 'kube-1.37',
  v1beta1: 'kube-1.37',
  v1: 'kube-1.37',
};

/**
 * What the kube-scheduler of a cluster does that has PodGroups of this version.
 * @param apiVersion `scheduling.k8s.io/v1beta1`; undefined where there are none
 * @returns undefined where it knows no gangs
 */
export function variantOfGroups(apiVersion: string | undefined): Variant | undefined {
  const { group, version } = parseGroupVersion(apiVersion ?? '');
  return group === 'scheduling.k8s.io' ? OF_VERSION[version] : undefined;
}

/** What differs between the algorithms. */
export interface VariantBehaviour {
  /** The release of kube-scheduler, which knows native PodGroups alone and takes Pods on their way out for victims; undefined: the document's. */
  readonly scheduler: string | undefined;
  /** Whether a single Pod preempts groups as units. */
  readonly podsSeeGroups: boolean;
  /** Whether a member that is disrupted alone costs what its group does. */
  readonly membersCostTheirGroup: boolean;
  /** Whether nodes are compared by the priorities and broken budgets of Pods, not of units. */
  readonly costsCountPods: boolean;
  /**
   * How victims of a gang are spared: beside the gang where it is assumed, after a search for the lowest priority; with the gang placed
   * anew for each; or beside all of its Pods that found a place with nobody there, in the order in which they were placed.
   */
  readonly spares: 'above a priority' | 'anew' | 'in turn';
  /** After which violation nothing more is charged to budgets: of the unit, or of the Pod. Undefined: everything is. */
  readonly chargesUntil: Readonly<Record<'Gang' | 'Pod', 'unit' | 'Pod' | undefined>>;
  /** Who preempts nobody more while room is being made on a node that it is nominated for. */
  readonly waitsWhereNominated: readonly ('Gang' | 'Pod')[];
  /** Whether somebody is preempted for a gang with a topology constraint. */
  readonly preemptsInDomains: boolean;
  /** Whether a gang of which a Pod has another priority, or another preemption policy, is not tried at all. */
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
