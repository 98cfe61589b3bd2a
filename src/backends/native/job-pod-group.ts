import { asObject, ownString, type Json } from '../../json/json.ts';
import { parseGroupVersion } from '../../k8s/resource.ts';
import type { PodReader } from '../backend.ts';

/**
 * Whether a Job controls the Pod. With the feature gate WorkloadWithJob the Job controller puts each Pod of a Job whose
 * template names no PodGroup into one that it has made, and nothing of the Pod tells that from what a template says
 * (pkg/controller/job/job_controller.go: it does have the PodGroup own the template, but GetPodFromTemplate of
 * pkg/controller/controller_utils.go takes the Job alone over).
 */
export function isOfJob(pod: Pick<PodReader, 'at'>): boolean {
  const references = pod.at(['metadata', 'ownerReferences']);
  const owners: readonly Json[] = Array.isArray(references) ? (references as readonly Json[]) : [];
  return owners.some((owner) => asObject(owner)?.['controller'] === true && isJob(owner));
}

const isJob = (owner: Json): boolean =>
  ownString(owner, 'kind') === 'Job' &&
  parseGroupVersion(ownString(owner, 'apiVersion') ?? '').group === 'batch';
