import { ownList, ownObject, ownString, type JsonObject } from '../../api/json.ts';
import { nameOf } from '../../api/resource.ts';
import { saying, type Diagnosis } from './diagnosis.ts';
import { RIGHTS_FIX, valueOf, type Read } from './read.ts';

/** The policies of manifests/policies; a test compares them. */
export const EXPECTED_POLICIES = {
  mutating: ['muster-add-gang-gate', 'muster-mark-strangers'],
  validating: [
    'muster-account-leases',
    'muster-account-made-podgangs',
    'muster-account-objects',
    'muster-account-pod-status',
    'muster-account-podgangs',
    'muster-account-pods',
    'muster-gang-objects',
    'muster-gang-pod-create',
    'muster-gang-pod-gate',
    'muster-gang-pod-identity',
    'muster-gang-pod-named',
    'muster-group-strangers',
    'muster-native-gang-strangers',
    'muster-pod-binding',
    'muster-pod-group-name',
    'muster-podgang-initialized',
    'muster-podgang-spec',
  ],
} as const;

/** Those that name the trusted accounts; a test compares them. */
export const WITH_ACCOUNTS: readonly string[] = [
  'muster-gang-objects',
  'muster-gang-pod-gate',
  'muster-podgang-initialized',
  'muster-podgang-spec',
];

/** Every admission policy of the cluster, and what binds them. */
export interface Policies {
  /** Absent before Kubernetes 1.36, which serves it first as v1. */
  readonly mutating: Read<readonly JsonObject[]>;
  readonly mutatingBindings: Read<readonly JsonObject[]>;
  readonly validating: Read<readonly JsonObject[]>;
  readonly validatingBindings: Read<readonly JsonObject[]>;
}

const APPLY = 'kubectl apply -k manifests/policies';

export const checkPolicies = (
  policies: Policies,
  trusted: readonly string[],
  account: string,
): readonly Diagnosis[] => [
  ...present('validating', EXPECTED_POLICIES.validating, policies.validating, policies.validatingBindings),
  ...present('mutating', EXPECTED_POLICIES.mutating, policies.mutating, policies.mutatingBindings),
  ...checkAccounts(policies.validating, trusted, account),
];

function present(
  check: 'mutating' | 'validating',
  expected: readonly string[],
  policies: Read<readonly JsonObject[]>,
  bindings: Read<readonly JsonObject[]>,
): Diagnosis[] {
  const say = saying('policies', check);
  if (policies.state === 'unread') return [say.notChecked(policies.reason, RIGHTS_FIX)];
  if (policies.state === 'absent') {
    return check === 'mutating'
      ? [
          say.warning(
            'the cluster serves no MutatingAdmissionPolicy v1: while Muster is down gang Pods are refused, not gated',
            'nothing before Kubernetes 1.36, where kubectl apply -k manifests/policies adds it',
          ),
        ]
      : [
          say.warning(
            'the cluster serves no ValidatingAdmissionPolicy v1',
            'upgrade to Kubernetes 1.30 or later',
          ),
        ];
  }
  const names = policies.value.map(nameOf);
  const missing = expected.filter((name) => !names.includes(name));
  const findings: Diagnosis[] = [];
  if (missing.length > 0) {
    const what = `not installed: ${missing.join(', ')}; without them a gang is kept together by Muster's webhooks alone`;
    findings.push(say.warning(what, APPLY));
  }
  if (bindings.state !== 'found') {
    const reason =
      bindings.state === 'unread' ? bindings.reason : 'the cluster serves no bindings of policies';
    return [...findings, say.notChecked(reason, RIGHTS_FIX)];
  }
  const bound = new Set(bindings.value.map((binding) => ownString(ownObject(binding, 'spec'), 'policyName')));
  const loose = expected.filter((name) => names.includes(name) && !bound.has(name));
  if (loose.length > 0)
    findings.push(say.warning(`not bound, so without effect: ${loose.join(', ')}`, APPLY));
  return findings.length > 0
    ? findings
    : [say.ok(`${expected.length} of ${expected.length} installed and bound`)];
}

/** Whether the policies and the configuration trust the same accounts, Muster's own among them. */
function checkAccounts(
  policies: Read<readonly JsonObject[]>,
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
  const judged = (valueOf(policies) ?? []).filter((policy) => WITH_ACCOUNTS.includes(nameOf(policy)));
  for (const policy of judged) {
    const listed = accountsIn(policy);
    const name = nameOf(policy);
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

/** A list of strings in CEL, as manifests/policies writes it. */
function accountsIn(policy: JsonObject): readonly string[] | undefined {
  const variable = (ownList(ownObject(policy, 'spec'), 'variables') ?? []).find(
    (candidate) => ownString(candidate, 'name') === 'trusted',
  );
  const expression = ownString(variable, 'expression');
  if (expression === undefined || !/^\s*\[[^\]]*\]\s*$/.test(expression)) return undefined;
  return [...expression.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, single, double]) => single ?? double ?? '');
}
