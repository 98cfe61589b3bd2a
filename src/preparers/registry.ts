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

/** Muster's own preparers, in the order in which they change a Pod. */
export const builtInPreparers: readonly PreparerFactory[] = [fluxPreparer, torchPreparer];

/** The preparers of a gang besides its backend, or the fault that prevents preparing. */
export interface GangPreparers {
  readonly preparers: readonly Preparer[];
  readonly fault?: Fault;
}

const NOBODY: GangPreparers = { preparers: [] };

/** The preparers by the HPCPolicy that the gang names; empty for the many gangs that name none. */
export function preparersOf(
  gang: HpcGang,
  policies: PolicyLookup,
  others: readonly PreparerFactory[] = [],
): GangPreparers {
  const found = policyOfGang(gang, policies);
  if (found === undefined) return NOBODY;
  const wrong =
    'rule' in found
      ? found
      : (unmadeFault(gang, found) ?? settingsReplaced(gang, preparedMarkOf(found), policies));
  if ('rule' in found || wrong !== undefined) return { preparers: [], ...(wrong && { fault: wrong }) };
  // A preparer in another process has answered for this one Pod, so the result is not cached.
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

/** The fault of a Pod before its gang by a preparer that needs the numbers of the gang, as all but Flux do. */
const unmadeFault = ({ unmade }: HpcGang, { name, flux, torch }: HpcPolicy): Fault | undefined => {
  if (unmade !== true || flux !== undefined) return undefined;
  const detail = torch === undefined ? 'of its manager' : 'spec.torch tells each Pod the number of all';
  return fault('HpcGangUnmade', HPC_POLICY_FIELD, { value: name, detail });
};

/** Cache for further Pods of a gang. A changed gang or policy is a new object and misses the cache. */
const made = new WeakMap<HpcGang, GangPreparers & { readonly policy: HpcPolicy }>();

type PolicyLookup = Pick<HpcPolicies, 'get' | 'elsewhere' | 'otherMark'>;

/** The policy that a gang names, or the fault that prevents preparing; undefined when it names none. */
export function policyOfGang(gang: HpcGang, policies: PolicyLookup): HpcPolicy | Fault | undefined {
  const named = policyNameOf(gang);
  if (named === undefined) return undefined;
  const { namespace } = gang;
  const stored = policies.get(namespace, named);
  if (stored === undefined) return policyMissing(named, policies.elsewhere?.(named) ?? []);
  const { policy } = stored;
  // A policy with a fault is refused: admitted without its settings, a Pod would run differently than intended.
  if (stored.wrong === undefined) return policy;
  return fault('HpcPolicyUnusable', HPC_POLICY_FIELD, { value: named, detail: stored.wrong });
}

/**
 * The fault of a new Pod in a gang whose running Pods were prepared by other settings, because the policy was deleted and
 * created again. The settings that all Pods share stay fixed while one of them runs.
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

/**
 * Faults and warnings for a gang by its policy; only a warning when the policy is missing, since it may still be created.
 */
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

/** Allowed values of `spec.hpc.manager` besides `flux`. */
export const managersOf = (others: readonly PreparerFactory[] = []): readonly string[] =>
  others.map(({ name }) => name);

/** The preparation that a policy requests, when it runs in another process, which has to be queried first. */
export function hostedPreparerFor(
  { managed }: HpcPolicy,
  others: readonly PreparerFactory[] = [],
): { readonly preparation: PreparerFactory; readonly hosted: HostedPreparer } | undefined {
  const preparation = managed && others.find(({ name }) => name === managed.manager);
  const hosted = preparation?.hosted;
  return hosted && { preparation, hosted };
}

/** Faults and warnings for a policy by the preparers that it requests. */
export function verdictOnPolicy(policy: HpcPolicy, others: readonly PreparerFactory[] = []): PodGangVerdict {
  return mergedVerdicts(others.flatMap((one) => one.judge?.(policy) ?? []));
}

/** Faults and warnings for a gang under a policy; see {@link PreparerFactory.validate}. */
export function verdictOnGang(
  gang: HpcGang,
  policy: HpcPolicy,
  subdomain?: string,
  others: readonly PreparerFactory[] = [],
): PodGangVerdict {
  return mergedVerdicts([...builtInPreparers, ...others].map((one) => one.validate(gang, policy, subdomain)));
}

/** Objects of a gang under a policy; {@link verdictOnGang} has to pass first. */
export const objectsBesidePods = (
  gang: HpcGang,
  policy: HpcPolicy,
  given: ObjectsGiven,
  others: readonly PreparerFactory[] = [],
): JsonObject[] => [...builtInPreparers, ...others].flatMap((one) => one.objects(gang, policy, given));

/**
 * Annotation value of a Pod that was prepared by a policy: the policy's name and a hash of the settings that differ from
 * their defaults. Defaults are excluded, so that a release of Muster with a new setting does not change the marks of running
 * Pods.
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

/** The settings of a policy without its name. */
function settingsIn({ flux, torch, managed }: HpcPolicy): unknown[] {
  if (managed !== undefined) return [managed];
  const set = Object.entries(flux ?? {}).filter(
    ([key, value]) => !isDeepStrictEqual(value, fluxDefaults[key as keyof FluxSettings]),
  );
  return [flux && set.sort(([a], [b]) => (a < b ? -1 : 1)), torch];
}

const marks = new WeakMap<HpcPolicy, string>();

/** The preparer that annotates the Pod with the mark, after all others. */
const marker = (mark: string): Preparer => ({
  name: 'mark',
  patchSurface: { annotations: [ANNOTATION_PREPARED] },
  prepare: (_pod, _gang, patch) => patch.annotate(ANNOTATION_PREPARED, mark, 'by which it was prepared'),
});

type Prepared = Pick<PodRecord, 'prepared' | 'gates' | 'deletionTimestamp' | 'phase'>;

/** The mark of a released Pod that has not ended; undefined for any other. */
export const runningMark = ({ prepared, gates, deletionTimestamp, phase }: Prepared): string | undefined =>
  deletionTimestamp !== undefined ||
  phase === 'Succeeded' ||
  phase === 'Failed' ||
  gates.includes(GATE_POD_GANG_PENDING)
    ? undefined
    : prepared;
