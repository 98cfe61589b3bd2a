import { isDeepStrictEqual } from 'node:util';
import { ANNOTATION_PREPARED, GATE_POD_GANG_PENDING } from '../api/names.ts';
import { fnv1a } from '../text/fnv1a.ts';
import { fault, type Fault } from '../api/fault.ts';
import type { JsonObject } from '../json/json.ts';
import { fluxDefaults, type FluxSettings } from './flux/settings.ts';
import { HPC_POLICY_FIELD, policyMissing, policyNameOf, type HpcPolicy } from './policy/hpc-policy.ts';
import { fluxPreparer } from './flux/preparer.ts';
import type {
  HostedPreparer,
  HpcGang,
  HpcPolicies,
  ObjectsGiven,
  PreparerFactory,
} from './preparer-factory.ts';
import { mergedVerdicts, NO_FINDINGS, type PodGangVerdict, type Preparer } from './preparer.ts';
import { torchPreparer } from './torch/preparer.ts';
import type { PodRecord } from '../gang/records.ts';

/** The preparers that come with Muster, in the order in which they change a Pod. */
export const builtInPreparers: readonly PreparerFactory[] = [fluxPreparer, torchPreparer];

/** The preparers of a gang beside its backend, or the fault that stands in their way. */
export interface GangPreparers {
  readonly preparers: readonly Preparer[];
  readonly fault?: Fault;
}

const NOBODY: GangPreparers = { preparers: [] };

/** By the HPCPolicy that the gang names; most name none, and for those that is all there is to it. */
export function preparersOf(
  gang: HpcGang,
  policies: PolicyLookup,
  others: readonly PreparerFactory[] = [],
): GangPreparers {
  const found = policyOfGang(gang, policies);
  if (found === undefined) return NOBODY;
  const wrong = 'rule' in found ? found : settingsReplaced(gang, preparedMarkOf(found), policies);
  if ('rule' in found || wrong !== undefined) return { preparers: [], ...(wrong && { fault: wrong }) };
  // Who runs elsewhere has answered about this one Pod.
  if (found.managed !== undefined)
    return {
      preparers: [...others.flatMap((one) => one.preparer(gang, found) ?? []), marker(preparedMarkOf(found))],
    };
  let known = made.get(gang);
  if (known?.policy !== found) {
    const preparers = builtInPreparers.flatMap((one) => one.preparer(gang, found) ?? []);
    known = { policy: found, preparers: [...preparers, marker(preparedMarkOf(found))] };
    made.set(gang, known);
  }
  return known;
}

/** For the next Pod of a gang. A gang that was changed is another object, and so is a policy. */
const made = new WeakMap<HpcGang, GangPreparers & { readonly policy: HpcPolicy }>();

type PolicyLookup = Pick<HpcPolicies, 'get' | 'elsewhere' | 'otherMark'>;

/** The policy that a gang names, or why its Pods cannot be prepared by it; undefined where it names none. */
export function policyOfGang(gang: HpcGang, policies: PolicyLookup): HpcPolicy | Fault | undefined {
  const named = policyNameOf(gang);
  if (named === undefined) return undefined;
  const { namespace } = gang;
  const stored = policies.get(namespace, named);
  if (stored === undefined) return policyMissing(named, policies.elsewhere?.(named) ?? []);
  const { policy } = stored;
  // Let in without what it asks for, a Pod would run as something else.
  if (stored.wrong === undefined) return policy;
  return fault('HpcPolicyUnusable', HPC_POLICY_FIELD, { value: named, detail: stored.wrong });
}

/**
 * Why no Pod may come beside those of a gang that run: its policy was deleted and came back with other settings. What all of
 * them are told of each other holds for as long as one of them runs.
 */
export function settingsReplaced(
  { namespace, name }: Pick<HpcGang, 'namespace' | 'name'>,
  mark: string,
  { otherMark }: Pick<HpcPolicies, 'otherMark'>,
): Fault | undefined {
  const other = otherMark?.(namespace, name, mark);
  if (other === undefined) return undefined;
  const [before, now] = [other, mark].map((one) => one.slice(one.lastIndexOf('@') + 1));
  return fault('HpcPolicyReplaced', HPC_POLICY_FIELD, { detail: `by ${before}, and it is ${now}` });
}

/** What is wrong with a gang by what its policy asks for; a policy that is not there may still come. */
export function checkPreparedGang(
  gang: HpcGang,
  policies: PolicyLookup,
  others: readonly PreparerFactory[] = [],
): PodGangVerdict {
  const found = policyOfGang(gang, policies);
  if (found === undefined) return NO_FINDINGS;
  if ('rule' in found) return { faults: [], warnings: [`${found.field}: ${found.message}`] };
  return verdictOnGang(gang, found, undefined, others);
}

/** The names that `spec.hpc.manager` may have beside `flux`. */
export const managersOf = (others: readonly PreparerFactory[] = []): readonly string[] =>
  others.map(({ name }) => name);

/** The preparation that a policy asks for, where it has to be asked before anything can be said. */
export function hostedPreparerFor(
  { managed }: HpcPolicy,
  others: readonly PreparerFactory[] = [],
): { readonly preparation: PreparerFactory; readonly hosted: HostedPreparer } | undefined {
  const preparation = managed && others.find(({ name }) => name === managed.manager);
  const hosted = preparation?.hosted;
  return hosted && { preparation, hosted };
}

/** What is wrong with a policy by what it asks for. */
export function verdictOnPolicy(policy: HpcPolicy, others: readonly PreparerFactory[] = []): PodGangVerdict {
  return mergedVerdicts(others.flatMap((one) => one.judge?.(policy) ?? []));
}

/** What is wrong with a gang under a policy; see {@link PreparerFactory.validate}. */
export function verdictOnGang(
  gang: HpcGang,
  policy: HpcPolicy,
  subdomain?: string,
  others: readonly PreparerFactory[] = [],
): PodGangVerdict {
  return mergedVerdicts([...builtInPreparers, ...others].map((one) => one.validate(gang, policy, subdomain)));
}

/** What a gang under a policy needs beside its Pods; {@link verdictOnGang} goes first. */
export const objectsBesidePods = (
  gang: HpcGang,
  policy: HpcPolicy,
  given: ObjectsGiven,
  others: readonly PreparerFactory[] = [],
): JsonObject[] => [...builtInPreparers, ...others].flatMap((one) => one.objects(gang, policy, given));

/**
 * What a Pod carries that was prepared by a policy: its name, and a sum over the settings that are not as they are by
 * themselves, so that a release of Muster with a further one leaves the marks of Pods that run as they are.
 */
export function preparedMarkOf(policy: HpcPolicy): string {
  let mark = marks.get(policy);
  if (mark === undefined) {
    const sum = fnv1a(JSON.stringify(settingsIn(policy)));
    mark = `${policy.name}@${sum.toString(16).padStart(8, '0')}`;
    marks.set(policy, mark);
  }
  return mark;
}

/** What a policy says beside its name. */
function settingsIn({ flux, torch, managed }: HpcPolicy): unknown[] {
  if (managed !== undefined) return [managed];
  const set = Object.entries(flux ?? {}).filter(
    ([key, value]) => !isDeepStrictEqual(value, fluxDefaults[key as keyof FluxSettings]),
  );
  return [flux && set.sort(([a], [b]) => (a < b ? -1 : 1)), torch];
}

const marks = new WeakMap<HpcPolicy, string>();

/** Annotates the Pod with the mark, after all other preparers. */
const marker = (mark: string): Preparer => ({
  name: 'mark',
  patchSurface: { annotations: [ANNOTATION_PREPARED] },
  prepare: (_pod, _gang, patch) => patch.annotate(ANNOTATION_PREPARED, mark, 'by which it was prepared'),
});

type Prepared = Pick<PodRecord, 'prepared' | 'gates' | 'deletionTimestamp' | 'phase'>;

/** The mark of a Pod that is released and has not ended; undefined for any other. */
export const runningMark = ({ prepared, gates, deletionTimestamp, phase }: Prepared): string | undefined =>
  deletionTimestamp !== undefined ||
  phase === 'Succeeded' ||
  phase === 'Failed' ||
  gates.includes(GATE_POD_GANG_PENDING)
    ? undefined
    : prepared;
