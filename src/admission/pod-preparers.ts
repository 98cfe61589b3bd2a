import { fault, type Fault } from '../api/fault.ts';
import { ANNOTATION_HPC_POLICY, LABEL_GANG } from '../api/names.ts';
import { TryLater } from '../errors.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { isOfEarlier } from '../gang/gang-workload.ts';
import type { Membership } from '../gang/membership.ts';
import type { JsonObject } from '../json/json.ts';
import { HPC_POLICY_FIELD, policyNameOf } from '../preparers/policy/hpc-policy.ts';
import type { HpcGang, HpcPolicies } from '../preparers/preparer-factory.ts';
import type { Preparer } from '../preparers/preparer.ts';
import { preparersOf } from '../preparers/registry.ts';
import type { GangKind } from '../workloads/kind.ts';
import { gangKindOf } from '../workloads/kinds.ts';
import { originOfMarks } from '../workloads/pod-origin.ts';
import { preparationNeeded } from './gang-preparers.ts';
import type { ReceivedPod } from './pod-reader.ts';
import { policyOfPod, type DecisionNeed, type Policy } from './policy.ts';

/** The preparers of a Pod beside its backend; or the fault for which there are none; or what has to be read first. */
export type PodPreparers =
  | { readonly preparers: readonly Preparer[]; readonly needs?: never }
  | { readonly fault: Fault; readonly needs?: never; readonly preparers?: never }
  | { readonly needs: DecisionNeed; readonly preparers?: never };

/** Of a Pod that only its backend prepares; for all of them where HPCPolicies are off. */
export const NO_PREPARERS: PodPreparers = { preparers: [] };

/**
 * Finds the preparers by the HPCPolicy of the Pod's gang, or by that which the Pod itself names while its gang is not made.
 * A gang that no watch has delivered is read from the API server if its namespace has an HPCPolicy; all other gangs cost one
 * look-up in memory.
 * @param object returns the received Pod; called only where a hosted preparation has to be asked
 * @throws {TryLater} where there is an HPCPolicy to go by and the HPCPolicies are not known yet
 */
export function preparersOfPod(
  hpc: HpcPolicies,
  membership: Membership,
  policy: Policy,
  pod: ReceivedPod,
  object: () => JsonObject,
): PodPreparers {
  const { namespace, gang: name, group } = membership;
  const { placement, preparations } = policy;
  if (placement?.gang === undefined) return NO_PREPARERS;
  const found = placement.gang(namespace, name);
  if (found === undefined && placement.read !== undefined && hpc.anyIn(namespace))
    return { needs: { namespace, gang: name } };
  const own = policyOfPod(pod);
  const stored = found && isOfEarlierWorkload(found, own, pod, policy) ? undefined : found;
  if (stored && own !== undefined && own !== policyNameOf(stored)) {
    // The gang in memory may be an earlier one of that name.
    if (placement.read !== undefined) return { needs: { namespace, gang: name } };
    const detail = `it has ${policyNameOf(stored) ?? 'none'}`;
    return { fault: fault('HpcPolicyForeign', HPC_POLICY_FIELD, { value: own, detail }) };
  }
  if (!stored) return own === undefined ? NO_PREPARERS : beforeGang(hpc, membership, own, pod, policy);
  if (!stored.annotations.has(ANNOTATION_HPC_POLICY)) return NO_PREPARERS;
  checkKnown(hpc);
  const needs = preparationNeeded(stored, policy, (hosted, named, ms) =>
    hosted.ofPod(object(), { gang: stored, group, policy: named }, ms),
  );
  return needs === undefined ? madeOf(preparersOf(stored, hpc, preparations)) : { needs };
}

const madeOf = ({ preparers, fault: wrong }: ReturnType<typeof preparersOf>): PodPreparers =>
  wrong === undefined ? { preparers } : { fault: wrong };

function checkKnown({ known }: HpcPolicies): void {
  if (!known) throw new TryLater('not-ready', 'the HPCPolicies of the cluster are not known yet');
}

/** The preparers of a Pod by its own policy, which its gang will have. */
function beforeGang(
  hpc: HpcPolicies,
  { namespace, gang: name }: Membership,
  own: string,
  pod: ReceivedPod,
  policy: Policy,
): PodPreparers {
  const { preparations, gangKinds } = policy;
  checkKnown(hpc);
  const wrong = checkKind(pod, own, gangKinds);
  return wrong === undefined
    ? madeOf(preparersOf(unmade(namespace, name, own), hpc, preparations))
    : { fault: wrong };
}

/** Whether the gang was made for an earlier workload of this name, and goes with it: the Pod's own is yet to be made. */
const isOfEarlierWorkload = (
  gang: PodGang,
  own: string | undefined,
  pod: ReceivedPod,
  { gangKinds }: Policy,
): boolean =>
  (own !== undefined || policyNameOf(gang) !== undefined) &&
  pod.label(LABEL_GANG) !== undefined &&
  isOfEarlier(gang, originOfMarks(pod, gangKinds));

/** What is known of a gang before it is made: its name, and the policy that it will have. */
const unmade = (namespace: string, name: string, policy: string): HpcGang => ({
  namespace,
  name,
  annotations: new Map([[ANNOTATION_HPC_POLICY, policy]]),
  spec: {
    groups: [],
    pack: undefined,
    groupConfigs: [],
    priorityClassName: undefined,
    reuseReservationRef: undefined,
  },
  unmade: true,
});

/** The fault of a Pod whose kind of workload gives no host names that can be told before its Pods are there. */
function checkKind(
  pod: ReceivedPod,
  value: string,
  kinds: readonly GangKind[] | undefined,
): Fault | undefined {
  const kind = gangKindOf(originOfMarks(pod, kinds)?.kind ?? '', kinds);
  if (kind?.hosts !== undefined) return undefined;
  const detail = `a ${kind?.kind ?? 'workload of this kind'} names no hosts`;
  return fault('HpcGangUnmade', HPC_POLICY_FIELD, { value, detail });
}
