import { ANNOTATION_HPC_POLICY } from '../api/names.ts';
import { fault, type Fault } from '../api/fault.ts';
import type { Place } from '../backends/select.ts';
import { TryLater } from '../errors.ts';
import type { Membership } from '../gang/membership.ts';
import { preparePod } from '../preparers/prepare.ts';
import { preparersOf } from '../preparers/preparations.ts';
import type { Preparer } from '../preparers/preparer.ts';
import { JsonPodPatch } from './pod-patch.ts';
import type { ReceivedPod } from './pod-reader.ts';
import type { Policy } from './policy.ts';
import type { AdmissionRequest } from './review.ts';

/** Who prepares a Pod beside its backend, or why nobody can say, or what has to be read before anybody can. */
export type PodPreparers =
  | { readonly preparers: readonly Preparer[]; readonly ask?: never }
  | { readonly fault: Fault; readonly ask?: never; readonly preparers?: never }
  | { readonly ask: Place; readonly preparers?: never };

const NOBODY: PodPreparers = { preparers: [] };

/**
 * By the HPCPolicy of the Pod's gang. A gang that no watch knows yet is read where it may be one with a policy; for all
 * others this is one look into memory.
 * @throws {TryLater} where the gang names a policy and the policies are not known yet
 */
export function preparersOfPod({ namespace, gang: name }: Membership, policy: Policy): PodPreparers {
  const { hpc, placement } = policy;
  if (hpc === undefined || placement?.gang === undefined) return NOBODY;
  const gang = placement.gang(namespace, name);
  if (gang === undefined) {
    return placement.read !== undefined && hpc.anyIn(namespace) ? { ask: { namespace, gang: name } } : NOBODY;
  }
  if (gang?.annotations.has(ANNOTATION_HPC_POLICY) !== true) return NOBODY;
  if (!hpc.known) throw new TryLater('not-ready', 'the HPCPolicies of the cluster are not known yet');
  const { preparers, fault: found } = preparersOf(gang, hpc);
  return found === undefined ? { preparers } : { fault: found };
}

/** Whether what comes to be stored is as the preparers would have it: what they would still change is a fault. */
export function checkPrepared(
  request: AdmissionRequest,
  pod: ReceivedPod,
  gang: Membership,
  preparers: readonly Preparer[],
): Fault[] {
  if (preparers.length === 0 || request.object === undefined) return [];
  const patch = new JsonPodPatch(request.object, request.entire);
  const faults = preparePod(undefined, preparers, { pod, gang, patch });
  if (faults.length > 0) return faults;
  return patch.changes().map(({ operation, why }) => {
    const field = operation.path.slice(1).replaceAll('/', '.').replaceAll('~1', '/');
    return fault('HpcPodNotPrepared', field, { detail: why });
  });
}
