import { ANNOTATION_PREPARED } from '../api/names.ts';
import { fnv1a } from '../api/fnv1a.ts';
import { fault, type Fault } from '../api/fault.ts';
import { checkFluxGang } from '../hpc/flux-gang-rules.ts';
import type { HpcPolicy } from '../hpc/hpc-policy.ts';
import { HPC_POLICY_FIELD, policyMissing, policyNameOf } from '../hpc/policy-of-gang.ts';
import { fluxPreparation } from './flux/flux-preparation.ts';
import type { HpcGang, HpcPolicies, Preparation } from './preparation.ts';
import type { PodGangVerdict, Preparer } from './preparer.ts';

/** Every preparation there is, in the order in which they come to a Pod. */
export const preparations: readonly Preparation[] = [fluxPreparation];

/** Who prepares a gang's Pods beside its backend, or why nobody can say. */
export interface GangPreparers {
  readonly preparers: readonly Preparer[];
  readonly fault?: Fault;
}

const NOBODY: GangPreparers = { preparers: [] };

/** By the HPCPolicy that the gang names; most name none, and for those that is all there is to it. */
export function preparersOf(gang: HpcGang, policies: HpcPoliciesRead): GangPreparers {
  const found = policyOf(gang, policies);
  if (found === undefined) return NOBODY;
  if ('rule' in found) return { preparers: [], fault: found };
  return {
    preparers: [...preparations.flatMap((one) => one.preparer(gang, found) ?? []), marker(markOf(found))],
  };
}

type HpcPoliciesRead = Pick<HpcPolicies, 'get' | 'elsewhere'>;

/** The policy that a gang names, or why its Pods cannot be prepared by it; undefined where it names none. */
export function policyOf(gang: HpcGang, policies: HpcPoliciesRead): HpcPolicy | Fault | undefined {
  const named = policyNameOf(gang);
  if (named === undefined) return undefined;
  const { namespace } = gang;
  const stored = policies.get(namespace, named);
  if (stored === undefined) return policyMissing(named, policies.elsewhere?.(named) ?? []);
  const { policy } = stored;
  // Let in without what it asks for, a Pod would run as something else.
  const wrong = stored.wrong ?? (policy.torch === undefined ? undefined : 'spec.torch: not served yet');
  if (wrong === undefined) return policy;
  return fault('HpcPolicyUnusable', HPC_POLICY_FIELD, { value: named, detail: wrong });
}

/** What is wrong with a gang by what its policy asks for; a policy that is not there may still come. */
export function checkGang(gang: HpcGang, policies: HpcPoliciesRead): PodGangVerdict {
  const found = policyOf(gang, policies);
  if (found === undefined) return { faults: [], warnings: [] };
  if ('rule' in found) return { faults: [], warnings: [`${found.field}: ${found.message}`] };
  return { faults: found.flux === undefined ? [] : checkFluxGang(gang, found.flux), warnings: [] };
}

/** What a Pod carries that was prepared by a policy: its name, and a sum over what it says. */
export function markOf(policy: HpcPolicy): string {
  let mark = marks.get(policy);
  if (mark === undefined) {
    mark = `${policy.name}@${fnv1a(JSON.stringify([policy.flux, policy.torch]))
      .toString(16)
      .padStart(8, '0')}`;
    marks.set(policy, mark);
  }
  return mark;
}

const marks = new WeakMap<HpcPolicy, string>();

/** Comes last: what carries the mark was prepared by all. */
const marker = (mark: string): Preparer => ({
  name: 'mark',
  patchSurface: { annotations: [ANNOTATION_PREPARED] },
  prepare: (_pod, _gang, patch) => patch.annotate(ANNOTATION_PREPARED, mark, 'by which it was prepared'),
});
