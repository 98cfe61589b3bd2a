import { fault, keyed, type Fault } from '../api/fault.ts';
import { ANNOTATION_HOSTS, ANNOTATION_HPC_POLICY } from '../api/names.ts';
import { workloadOf } from '../gang/gang-workload.ts';
import type { Membership } from '../gang/membership.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { isInitialized } from '../gang/rules/initialized.ts';
import { refersToPods } from '../gang/rules/priorities.ts';
import { HPC_POLICY_FIELD, policyNameOf } from '../preparers/policy/hpc-policy.ts';
import type { HpcPolicy } from '../preparers/policy/hpc-policy.ts';
import { preparePod } from '../preparers/prepare.ts';
import type { HostedPreparer, HpcGang, PreparerFactory } from '../preparers/preparer-factory.ts';
import { hostedPreparerFor, policyOfGang } from '../preparers/registry.ts';
import type { Preparer } from '../preparers/preparer.ts';
import { JsonPodPatch } from './pod-patch.ts';
import type { ReceivedPod } from './pod-reader.ts';
import type { Policy, PreparationNeed } from './policy.ts';
import type { AdmissionRequest } from './review.ts';

/** Returns the question to a hosted preparation where one prepares the gang; undefined where none does. */
export function preparationNeeded(
  gang: HpcGang,
  { hpc, preparations = [] }: Policy,
  says: (hosted: HostedPreparer, policy: HpcPolicy, withinMs: number) => Promise<PreparerFactory>,
): PreparationNeed | undefined {
  if (hpc === undefined || preparations.length === 0) return undefined;
  const named = policyOfGang(gang, hpc);
  if (named === undefined || 'rule' in named) return undefined;
  const found = hostedPreparerFor(named, preparations);
  return found && { inPlaceOf: found.preparation, says: (ms) => says(found.hosted, named, ms) };
}

/** Checks that the preparers would not change the Pod any more: each change that they would still make is a fault. */
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

/**
 * Checks that a gang keeps its HPCPolicy and the hosts that it names while it has Pods, so that one policy prepares all of
 * them, with the same hosts.
 */
export function checkPreparationKept(before: PodGang, after: PodGang, { placement }: Policy): Fault[] {
  const [policy, hosts] = [changeOf(before, after, ANNOTATION_HPC_POLICY), hostsChange(before, after)];
  if (policy === undefined && hosts === undefined) return [];
  const hasPods = refersToPods(before) || placement?.hasPods?.(before.namespace, before.name) === true;
  if (!hasPods) return [];
  return [
    ...(policy === undefined ? [] : [fault('HpcPolicyFixed', HPC_POLICY_FIELD, { detail: policy })]),
    ...(hosts === undefined ? [] : [fault('HpcHostsFixed', HOSTS_FIELD, { detail: hosts })]),
  ];
}

const HOSTS_FIELD = keyed('metadata.annotations', ANNOTATION_HOSTS);

/**
 * The change of the hosts of a gang whose Pods may know them already. Under Flux they are read once the gang starts, and
 * until then Muster lists those of a workload that is scaled.
 */
const hostsChange = (before: PodGang, after: PodGang): string | undefined =>
  policyNameOf(before) === undefined || (workloadOf(before) !== undefined && !isInitialized(before))
    ? undefined
    : changeOf(before, after, ANNOTATION_HOSTS);

function changeOf(before: PodGang, after: PodGang, key: string): string | undefined {
  const [from, to] = [before.annotations.get(key), after.annotations.get(key)];
  return from === to ? undefined : `was ${from ?? 'not set'}, now ${to ?? 'not set'}`;
}
