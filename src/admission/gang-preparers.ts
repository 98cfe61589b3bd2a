import { fault, type Fault } from '../api/fault.ts';
import type { JsonObject } from '../json/json.ts';
import { ANNOTATION_HPC_POLICY } from '../api/names.ts';
import { TryLater } from '../errors.ts';
import type { Membership } from '../gang/membership.ts';
import type { HpcPolicy } from '../preparers/policy/hpc-policy.ts';
import { preparePod } from '../preparers/prepare.ts';
import type { HostedPreparer, HpcGang, PreparerFactory } from '../preparers/preparation.ts';
import { hostedPreparerFor, policyOfGang, preparersOf } from '../preparers/preparations.ts';
import type { Preparer } from '../preparers/preparer.ts';
import { JsonPodPatch } from './pod-patch.ts';
import type { ReceivedPod } from './pod-reader.ts';
import type { Ask, Policy, PreparationAsk } from './policy.ts';
import type { AdmissionRequest } from './review.ts';

/** Who prepares a Pod beside its backend, or why nobody can say, or what has to be read before anybody can. */
export type PodPreparers =
  | { readonly preparers: readonly Preparer[]; readonly ask?: never }
  | { readonly fault: Fault; readonly ask?: never; readonly preparers?: never }
  | { readonly ask: Ask; readonly preparers?: never };

const NOBODY: PodPreparers = { preparers: [] };

/**
 * By the HPCPolicy of the Pod's gang. A gang that no watch knows yet is read where it may be one with a policy; for all
 * others this is one look into memory.
 * @param pod as it comes; looked at only where somebody elsewhere has to be asked about it
 * @throws {TryLater} where the gang names a policy and the policies are not known yet
 */
export function preparersOfPod(
  { namespace, gang: name, group }: Membership,
  policy: Policy,
  pod: () => JsonObject,
): PodPreparers {
  const { hpc, placement, preparations } = policy;
  if (hpc === undefined || placement?.gang === undefined) return NOBODY;
  const gang = placement.gang(namespace, name);
  if (gang === undefined) {
    return placement.read !== undefined && hpc.anyIn(namespace) ? { ask: { namespace, gang: name } } : NOBODY;
  }
  if (gang?.annotations.has(ANNOTATION_HPC_POLICY) !== true) return NOBODY;
  if (!hpc.known) throw new TryLater('not-ready', 'the HPCPolicies of the cluster are not known yet');
  const ask = preparationToAsk(gang, policy, (hosted, named, ms) =>
    hosted.ofPod(pod(), { gang, group, policy: named }, ms),
  );
  if (ask !== undefined) return { ask };
  const { preparers, fault: found } = preparersOf(gang, hpc, preparations);
  return found === undefined ? { preparers } : { fault: found };
}

/** What has to be waited for where a gang is to be prepared by somebody who runs elsewhere. */
export function preparationToAsk(
  gang: HpcGang,
  { hpc, preparations = [] }: Policy,
  says: (hosted: HostedPreparer, policy: HpcPolicy, withinMs: number) => Promise<PreparerFactory>,
): PreparationAsk | undefined {
  if (hpc === undefined || preparations.length === 0) return undefined;
  const named = policyOfGang(gang, hpc);
  if (named === undefined || 'rule' in named) return undefined;
  const found = hostedPreparerFor(named, preparations);
  return found && { inPlaceOf: found.preparation, says: (ms) => says(found.hosted, named, ms) };
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
