/**
 * Feature gates that native gangs need, by release of Kubernetes: pkg/features/kube_features.go of each. None is on by
 * default.
 */
import type { GangApi } from './native/gang-api.ts';

/** Programs of a control plane, named by the label `component` that kubeadm sets. */
export const GATED_COMPONENTS = ['kube-apiserver', 'kube-scheduler', 'kube-controller-manager'] as const;
export type GatedComponent = (typeof GATED_COMPONENTS)[number];

export interface FeatureGate {
  readonly name: string;
  /** `AllAlpha` and `AllBeta` switch on every gate of a stage. */
  readonly stage: 'alpha' | 'beta';
  /** Programs that read the gate. */
  readonly components: readonly GatedComponent[];
  /** Whether native gangs need the gate. */
  readonly needed: boolean;
  readonly gives: string;
  /** Gates that this gate depends on: a program that enables it without them does not start. */
  readonly needs: readonly string[];
  /** Version of `scheduling.k8s.io` that an API server with this gate and `--runtime-config` serves. */
  readonly serves?: GangApi['version'];
  /**
   * Version that a scheduler with this gate reads: it schedules no Pod at all while the API server does not serve that
   * version.
   */
  readonly reads?: GangApi['version'];
}

export interface GatedRelease {
  readonly kubernetes: string;
  /** Versions of `scheduling.k8s.io` with these objects. The control plane's own programs read the first. */
  readonly versions: readonly [GangApi['version'], ...GangApi['version'][]];
  readonly gates: readonly FeatureGate[];
  /** The unit that the scheduler places all or none. */
  readonly allOrNone: string;
}

const BOTH = ['kube-apiserver', 'kube-scheduler'] as const;

/** The feature gate of the gang objects, in every release that has them. */
const GENERIC = 'GenericWorkload';
const TOPOLOGY = 'TopologyAwareWorkloadScheduling';
const GANGS = 'GangScheduling';

const generic: FeatureGate = {
  ...{ name: GENERIC, stage: 'alpha', components: GATED_COMPONENTS, needed: true, needs: [] },
  gives: 'the objects',
};
const topology: FeatureGate = {
  ...{ name: TOPOLOGY, stage: 'alpha', components: BOTH, needed: false, needs: [GENERIC] },
  gives: 'required topology',
};
const gangScheduling: FeatureGate = {
  ...{ name: GANGS, stage: 'alpha', components: BOTH, needed: true, needs: [GENERIC] },
  gives: 'all or none',
};

/** Newest first. */
export const GATED_RELEASES: readonly GatedRelease[] = [
  {
    kubernetes: '1.37',
    versions: ['v1beta1', 'v1alpha3'],
    allOrNone:
      'the minimum, which follows the gang; of several groups at the start all Pods that there are, in a CompositePodGroup the minimum of each',
    gates: [
      {
        ...{ ...generic, stage: 'beta', serves: 'v1beta1', reads: 'v1beta1' },
        gives: 'the objects, all or none, priority and disruption mode of a gang',
      },
      topology,
      {
        ...{ name: 'CompositePodGroup', stage: 'alpha', components: BOTH, needed: false },
        ...{ needs: [GENERIC, TOPOLOGY], serves: 'v1alpha3', reads: 'v1alpha3' },
        gives: 'several groups as one',
      },
      {
        ...{ name: 'PodGroupPreemptionPolicy', stage: 'alpha', components: BOTH, needed: false },
        needs: [GENERIC],
        gives: 'the preemption policy of the gang’s class; without it one Pod with `Never` speaks for all',
      },
    ],
  },
  {
    kubernetes: '1.36',
    versions: ['v1alpha2'],
    allOrNone: 'the minimum of each group, which follows the gang: the PodGroup is replaced under its name',
    gates: [
      { ...generic, serves: 'v1alpha2', reads: 'v1alpha2' },
      gangScheduling,
      {
        ...{ name: 'WorkloadAwarePreemption', stage: 'alpha', components: BOTH, needed: false },
        needs: [GANGS],
        gives: 'priority and disruption mode of a gang',
      },
      topology,
    ],
  },
  {
    kubernetes: '1.35',
    versions: ['v1alpha1'],
    allOrNone: 'the first minimum of each group: it stays, whatever becomes of the gang',
    gates: [
      { ...generic, components: BOTH, serves: 'v1alpha1' },
      { ...gangScheduling, reads: 'v1alpha1' },
    ],
  },
];

/** The release of a version such as `v1.37.2`; undefined when it has no native gangs or is not listed here. */
export const gatedReleaseOf = (version: string): GatedRelease | undefined =>
  GATED_RELEASES.find(({ kubernetes }) => kubernetes === minorOf(version));

/** The minor release of a version: `1.37` for `v1.37.2`. */
export const minorOf = (version: string): string | undefined => /^v?(\d+\.\d+)/.exec(version)?.[1];

/** The release with this version of `scheduling.k8s.io`. */
export const gatedReleaseWith = (api: string): GatedRelease | undefined =>
  GATED_RELEASES.find(({ versions }) => versions.some((one) => one === api));

/** Gates of other releases that this one, such as `1.37`, lacks. Empty for releases newer than all listed here. */
export function strangeGates(minor: string): readonly string[] {
  const [newest] = GATED_RELEASES;
  if (minor.localeCompare(newest?.kubernetes ?? '', 'en', { numeric: true }) > 0) return [];
  const gatesOf = (releases: readonly GatedRelease[]): string[] =>
    releases.flatMap(({ gates }) => gates.map(({ name }) => name));
  const own = gatesOf(GATED_RELEASES.filter(({ kubernetes }) => kubernetes === minor));
  return [...new Set(gatesOf(GATED_RELEASES))].filter((name) => !own.includes(name));
}
