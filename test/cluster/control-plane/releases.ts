import { join } from 'node:path';
import type { Binary } from './binaries.ts';

/** A Kubernetes release that can be built here, and how its native gangs are switched on. */
export interface Release {
  /** Such as `v1.37.2`; stamped into the binaries. */
  readonly version: string;
  /** Folder whose go.mod and go.sum pin what is built. */
  readonly module: string;
  /** Programs that are those of the default release: they work with those beside theirs, and take minutes to build. */
  readonly borrowed: readonly Binary[];
  /** The API that gangs need, off by default: the kinds, and the scheduler's use of them. None where there are no native gangs. */
  readonly featureGates: Readonly<Record<string, boolean>>;
  /** Version of `scheduling.k8s.io` that has them. */
  readonly gangApi: string | undefined;
  /** Whether it serves MutatingAdmissionPolicy as v1. */
  readonly mutatingPolicies: boolean;
}

/** Each release has a version of its own; naming one, or a gate, that a release does not have would stop its API server. */
const RELEASES = {
  '1.37': {
    version: 'v1.37.2',
    module: moduleOf('1.37'),
    borrowed: [],
    featureGates: { GenericWorkload: true, TopologyAwareWorkloadScheduling: true },
    gangApi: 'v1beta1',
    mutatingPolicies: true,
  },
  '1.36': {
    version: 'v1.36.3',
    module: moduleOf('1.36'),
    borrowed: ['etcd', 'kubectl'],
    featureGates: {
      GenericWorkload: true,
      GangScheduling: true,
      WorkloadAwarePreemption: true,
      TopologyAwareWorkloadScheduling: true,
    },
    gangApi: 'v1alpha2',
    mutatingPolicies: true,
  },
  '1.35': {
    version: 'v1.35.4',
    module: moduleOf('1.35'),
    borrowed: ['etcd', 'kubectl'],
    featureGates: { GenericWorkload: true, GangScheduling: true },
    gangApi: 'v1alpha1',
    mutatingPolicies: false,
  },
  '1.34': {
    version: 'v1.34.4',
    module: moduleOf('1.34'),
    borrowed: ['etcd', 'kubectl'],
    featureGates: {},
    gangApi: undefined,
    mutatingPolicies: false,
  },
} as const satisfies Record<string, Release>;

/** By the number that people call it by: `1.37`. */
export const KNOWN_RELEASES: Readonly<Record<string, Release>> = RELEASES;

export const DEFAULT_RELEASE: Release = RELEASES['1.37'];

/**
 * The release that this run is about: TESTING_MUSTER_KUBERNETES (`1.36`; `npm run test:matrix` sets it), else the default.
 * @throws Error naming the releases there are
 */
export const RELEASE: Release = chosen(process.env['TESTING_MUSTER_KUBERNETES']);

/** The API of native gangs, as `--runtime-config` names it; undefined where there is none. */
export const gangsOf = ({ gangApi }: Release): string | undefined =>
  gangApi && `scheduling.k8s.io/${gangApi}`;

export const GANGS = gangsOf(RELEASE);

function moduleOf(minor: string): string {
  return join(import.meta.dirname, `module-${minor}`);
}

function chosen(minor: string | undefined): Release {
  if (!minor) return DEFAULT_RELEASE;
  const release = Object.entries(RELEASES).find(([name]) => name === minor)?.[1];
  if (release !== undefined) return release;
  const known = Object.keys(RELEASES).join(', ');
  throw new Error(`TESTING_MUSTER_KUBERNETES=${minor}: no such release is known here (there are: ${known})`);
}
