import { ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import { saying, valueOf, type Diagnosis, type Read } from './diagnosis.ts';

/** Every admission policy of the cluster. */
export interface Policies {
  /** Absent before Kubernetes 1.36, the first to serve MutatingAdmissionPolicy as v1. */
  readonly mutating: Read<readonly JsonObject[]>;
  readonly validating: Read<readonly JsonObject[]>;
}

const APPLY = 'kubectl apply -k manifests/policies';

/**
 * Checks whether the cluster serves admission policies, and which accounts they trust. Their other fields are compared with
 * the manifests elsewhere.
 * @param trusting names of the policies that list the trusted accounts
 */
export const checkPolicies = (
  policies: Policies,
  trusting: readonly string[],
  trusted: readonly string[],
  account: string,
): readonly Diagnosis[] => [
  ...checkServed(policies),
  ...checkAccounts(policies.validating, trusting, trusted, account),
];

function checkServed({ mutating, validating }: Policies): Diagnosis[] {
  const findings: Diagnosis[] = [];
  if (validating.state === 'absent') {
    const what = 'the cluster serves no ValidatingAdmissionPolicy v1';
    findings.push(saying('policies', 'validating').warning(what, 'upgrade to Kubernetes 1.30 or later'));
  }
  if (mutating.state === 'absent') {
    findings.push(
      saying('policies', 'mutating').warning(
        'the cluster serves no MutatingAdmissionPolicy v1: while Muster is down gang Pods are refused, not gated',
        'nothing before Kubernetes 1.36, where kubectl apply -k manifests/policies adds it',
      ),
    );
  }
  return findings;
}

/** Names of the policies that list the trusted accounts. */
export const trustingIn = (objects: readonly JsonObject[]): readonly string[] =>
  objects
    .filter((object) => object['kind'] === 'ValidatingAdmissionPolicy' && trustedIn(object) !== undefined)
    .map(objectName);

/** Whether the policies and the configuration trust the same accounts, Muster's own included. */
function checkAccounts(
  policies: Read<readonly JsonObject[]>,
  trusting: readonly string[],
  trusted: readonly string[],
  account: string,
): Diagnosis[] {
  const say = saying('policies', 'accounts');
  const findings = trusted.includes(account)
    ? []
    : [
        say.problem(
          `the configuration does not trust ${account}: Muster refuses what its own loop writes`,
          `add ${account} to trustedAccounts of the configuration`,
        ),
      ];
  const judged = (valueOf(policies) ?? []).filter((policy) => trusting.includes(objectName(policy)));
  for (const policy of judged) {
    const listed = accountsIn(policy);
    const name = objectName(policy);
    if (listed === undefined) {
      findings.push(say.notChecked(`${name} has no variable "trusted" of the usual form`, APPLY));
      continue;
    }
    const refused = trusted.filter((one) => !listed.includes(one));
    if (refused.length > 0) {
      const what = `${name} refuses ${refused.join(', ')}, which the configuration trusts`;
      findings.push(say.problem(what, `${put(refused)} to the variable "trusted" of ${name}, then ${APPLY}`));
    }
    const more = listed.filter((one) => !trusted.includes(one));
    if (more.length > 0) {
      const what = `${name} trusts ${more.join(', ')}, which the configuration does not`;
      findings.push(say.warning(what, `${put(more)} to trustedAccounts, or take it out of ${name}`));
    }
  }
  if (findings.length > 0 || judged.length === 0) return findings;
  const same = trusted.length === 1 ? 'account' : `${trusted.length} accounts`;
  return [say.ok(`policies and configuration trust the same ${same}`)];
}

const put = (accounts: readonly string[]): string => `add ${accounts.join(', ')}`;

const trustedIn = (policy: JsonObject): string | undefined =>
  ownString(
    (ownList(ownObject(policy, 'spec'), 'variables') ?? []).find(
      (candidate) => ownString(candidate, 'name') === 'trusted',
    ),
    'expression',
  );

/** The list of strings in CEL that manifests/policies writes; undefined where the policy has none. */
function accountsIn(policy: JsonObject): readonly string[] | undefined {
  const expression = trustedIn(policy);
  if (expression === undefined || !/^\s*\[[^\]]*\]\s*$/.test(expression)) return undefined;
  return [...expression.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, single, double]) => single ?? double ?? '');
}
