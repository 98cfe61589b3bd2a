import { join } from 'node:path';
import { kustomized } from '../../../src/cli/doctor/installed/kustomize.ts';
import { packageRoot } from '../../../src/cli/version.ts';
import type { KubernetesObject } from '../../support/manifests.ts';
import { RELEASE } from '../control-plane/releases.ts';

/** Whether the API server puts the gate on by itself. */
export const { mutatingPolicies: MUTATING_POLICIES } = RELEASE;

/** What the pages tell people of this release to install of `manifests/policies`. */
export const shippedPolicies = (root = packageRoot() ?? ''): KubernetesObject[] => {
  const folder = MUTATING_POLICIES ? 'policies' : 'overlays/kubernetes-1.35';
  const objects = kustomized(join(root, 'manifests', folder)) as unknown as KubernetesObject[];
  return objects.filter(({ kind }) => /AdmissionPolicy(Binding)?$/.test(kind));
};

/** For `kubectl apply -f -`. */
export const policiesAsText = (): string =>
  shippedPolicies()
    .map((one) => JSON.stringify(one))
    .join('\n---\n');
