/**
 * What has to be switched on for native gangs, by release of Kubernetes: pkg/features/kube_features.go of each. None of it
 * is on by default.
 */
import type { GangApi } from './native/gang-api.ts';

/** Programs of a control plane by the label `component` that kubeadm gives them. */
export const GATED_COMPONENTS = ['kube-apiserver', 'kube-scheduler', 'kube-controller-manager'] as const;
export type GatedComponent = (typeof GATED_COMPONENTS)[number];

export interface FeatureGate {
  readonly name: string;
  /** `AllAlpha` and `AllBeta` switch on all of a stage. */
  readonly stage: 'alpha' | 'beta';
  /** Who goes by it. */
  readonly components: readonly GatedComponent[];
  /** Whether there are no native gangs without it. */
  readonly needed: boolean;
  readonly gives: string;
}

export interface GatedRelease {
  readonly kubernetes: string;
  /** Versions of `scheduling.k8s.io` for `--runtime-config`, the one to prefer first. */
  readonly versions: readonly GangApi['version'][];
  readonly gates: readonly FeatureGate[];
  /** What the scheduler places all or none. */
  readonly allOrNone: string;
  /** Gates of the release before that are none here: a program that is given one does not start. */
  readonly gone: readonly string[];
}

const BOTH = ['kube-apiserver', 'kube-scheduler'] as const;

const topology: FeatureGate = {
  ...{ name: 'TopologyAwareWorkloadScheduling', stage: 'alpha', components: BOTH, needed: false },
  gives: 'required topology',
};
const gangScheduling: FeatureGate = {
  ...{ name: 'GangScheduling', stage: 'alpha', components: BOTH, needed: true },
  gives: 'all or none',
};

/** Newest first. */
export const GATED_RELEASES: readonly GatedRelease[] = [
  {
    kubernetes: '1.37',
    versions: ['v1beta1', 'v1alpha3'],
    allOrNone:
      'the minimum, which follows the gang; of several groups, at the start, all Pods that there are',
    gates: [
      {
        ...{ name: 'GenericWorkload', stage: 'beta', components: GATED_COMPONENTS, needed: true },
        gives: 'the objects, all or none, priority and disruption mode of a gang',
      },
      topology,
    ],
    gone: ['GangScheduling', 'WorkloadAwarePreemption'],
  },
  {
    kubernetes: '1.36',
    versions: ['v1alpha2'],
    allOrNone: 'the minimum of each group, which follows the gang: the PodGroup is replaced under its name',
    gates: [
      {
        ...{ name: 'GenericWorkload', stage: 'alpha', components: GATED_COMPONENTS, needed: true },
        gives: 'the objects',
      },
      gangScheduling,
      {
        ...{ name: 'WorkloadAwarePreemption', stage: 'alpha', components: BOTH, needed: false },
        gives: 'priority and disruption mode of a gang',
      },
      topology,
    ],
    gone: [],
  },
  {
    kubernetes: '1.35',
    versions: ['v1alpha1'],
    allOrNone: 'the first minimum of each group: it stays, whatever becomes of the gang',
    gates: [
      {
        ...{ name: 'GenericWorkload', stage: 'alpha', components: BOTH, needed: true },
        gives: 'the objects',
      },
      gangScheduling,
    ],
    gone: [],
  },
];

/** The gates that a component cannot do without where this version of the API is served. */
export const neededGates = (version: string, component: string): readonly FeatureGate[] =>
  (GATED_RELEASES.find(({ versions }) => versions.some((one) => one === version))?.gates ?? []).filter(
    ({ needed, components }) => needed && components.some((one) => one === component),
  );
