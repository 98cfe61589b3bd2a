import { gatedReleaseOf } from '../../../src/backends/native-gates.ts';
import {
  issueAuthority,
  issueDevelopmentCertificates,
  issueServingCertificate,
  type Issued,
} from '../../../src/tls/issue.ts';
import type { Client } from '../control-plane/client.ts';
import { RELEASE } from '../control-plane/releases.ts';
import { controlPlanePod, type WholeInstallation } from './whole-installation.ts';

/** One way in which an installation breaks. */
export interface Broken {
  readonly what: string;
  readonly harm: Harm;
  /** `group/check` of the finding, which is a problem unless it says otherwise. */
  readonly rule: string;
  readonly severity?: 'warning';
  readonly found: string;
  /** Its way out. */
  readonly fix: string;
  /** Where no command mends it, or the test has to take more away; else what `--fix` prints does all of it. */
  readonly heal?: Harm;
}

interface Harm {
  (client: Client, whole: WholeInstallation): Promise<unknown>;
  /** The one object that is harmed, where it is one: what happens to another can be seen beside it. */
  readonly at?: string;
}

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const MUTATING = `${ADMISSION}/mutatingwebhookconfigurations/muster`;
const VALIDATING = `${ADMISSION}/validatingwebhookconfigurations/muster`;
const policy = (name: string): string => `${ADMISSION}/validatingadmissionpolicies/${name}`;
const bindingOf = (name: string): string => `${ADMISSION}/validatingadmissionpolicybindings/${name}`;
const GATE = 'muster-gang-pod-gate';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const SYSTEM = '/api/v1/namespaces/muster-system';
const SECRET = `${SYSTEM}/secrets/muster-serving-cert`;
const DEPLOYMENT = '/apis/apps/v1/namespaces/muster-system/deployments/muster';
const NETWORK = '/apis/networking.k8s.io/v1/namespaces/muster-system/networkpolicies/muster';
const BUDGET = '/apis/policy/v1/namespaces/muster-system/poddisruptionbudgets/muster';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/ml/leases/muster-leader-election';
const PRINTED = '`muster doctor --fix` prints the command';

const harming = (at: string, harm: Harm): Harm => Object.assign(harm, { at });
/** JSON patch operations, or a merge patch. */
const patched = (path: string, patch: object): Harm =>
  harming(path, (client) => client.ok('PATCH', path, patch));
const deleted = (path: string): Harm => harming(path, (client) => client.ok('DELETE', path));
const put = (path: string, value: unknown) => ({ op: 'add', path, value });
const removed = (path: string) => ({ op: 'remove', path });
const inTheEnd =
  (...all: readonly Harm[]): Harm =>
  async (client, whole) => {
    for (const one of all) await one(client, whole);
  };
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const NAMES = 'kubernetes.io/metadata.name';
const rolledOut: Harm = (_client, whole) => whole.rolledOut();
const installed: Harm = (_client, whole) => whole.install(whole.objects);

const WEBHOOKS: readonly Broken[] = [
  {
    what: 'a namespaceSelector that leaves out a namespace',
    harm: patched(VALIDATING, [put('/webhooks/0/namespaceSelector/matchExpressions/0/values/-', 'team-a')]),
    rule: 'webhooks/validating',
    found:
      'webhooks[pods.muster.dev].namespaceSelector is {"matchExpressions":[{"key":"kubernetes.io/metadata.name"',
    fix: PRINTED,
  },
  {
    what: 'a namespaceSelector that leaves out all but one',
    harm: patched(MUTATING, [
      put('/webhooks/0/namespaceSelector', {
        matchExpressions: [{ key: NAMES, operator: 'In', values: ['ml'] }],
      }),
    ]),
    rule: 'webhooks/mutating',
    found: 'in the namespaces that it leaves out nobody prepares Pods or judges them',
    fix: PRINTED,
  },
  {
    what: 'a namespaceSelector where there is none',
    harm: patched(MUTATING, [put('/webhooks/1/namespaceSelector', { matchLabels: { team: 'a' } })]),
    rule: 'webhooks/mutating',
    found: 'webhooks[podgangs.muster.dev].namespaceSelector is {"matchLabels":{"team":"a"}}, not {}',
    fix: PRINTED,
  },
  {
    what: 'a matchCondition for one namespace',
    harm: patched(VALIDATING, [
      put('/webhooks/0/matchConditions/0', {
        name: 'not-here',
        expression: "request.namespace != 'team-a'",
      }),
    ]),
    rule: 'webhooks/validating',
    found: 'webhooks[pods.muster.dev].matchConditions[not-here] is not shipped',
    fix: 'make it without webhooks[pods.muster.dev].matchConditions[not-here]',
  },
  {
    what: 'a matchCondition that is gone',
    harm: patched(VALIDATING, [removed('/webhooks/1/matchConditions/1')]),
    rule: 'webhooks/validating',
    found: 'webhooks[podgangs.muster.dev].matchConditions[not-being-deleted] is not there',
    fix: PRINTED,
  },
  {
    what: 'a matchCondition that says something else',
    harm: patched(VALIDATING, [put('/webhooks/0/matchConditions/1/expression', 'false')]),
    rule: 'webhooks/validating',
    found: 'matchConditions[labels-or-gates-change].expression is false, not request.operation',
    fix: PRINTED,
  },
  {
    what: 'no objectSelector: every Pod of the cluster is sent',
    harm: patched(MUTATING, [removed('/webhooks/0/objectSelector')]),
    rule: 'webhooks/mutating',
    found: 'webhooks[pods.muster.dev].objectSelector',
    fix: PRINTED,
  },
  {
    what: 'rules without UPDATE',
    harm: patched(VALIDATING, [put('/webhooks/0/rules/0/operations', ['CREATE'])]),
    rule: 'webhooks/validating',
    found: 'webhooks[pods.muster.dev].rules is',
    fix: PRINTED,
  },
  {
    what: 'rules with the status of Pods: kubelets wait for Muster',
    harm: patched(VALIDATING, [put('/webhooks/0/rules/0/resources', ['pods', 'pods/status'])]),
    rule: 'webhooks/validating',
    found: 'what is sent besides waits for Muster when it is down',
    fix: PRINTED,
  },
  {
    what: 'failurePolicy Ignore',
    harm: patched(MUTATING, [put('/webhooks/0/failurePolicy', 'Ignore')]),
    rule: 'webhooks/mutating',
    severity: 'warning',
    found: 'failurePolicy is Ignore, not Fail: while Muster is down its objects come in unprepared',
    fix: 'make it webhooks[pods.muster.dev].failurePolicy Fail',
  },
  {
    what: 'a timeout that leaves no room',
    harm: patched(MUTATING, [put('/webhooks/0/timeoutSeconds', 30)]),
    rule: 'webhooks/mutating',
    severity: 'warning',
    found: 'timeoutSeconds is 30, not 5: 2 to 10 leave room for a second try',
    fix: PRINTED,
  },
  {
    what: 'no second call',
    harm: patched(MUTATING, [put('/webhooks/0/reinvocationPolicy', 'Never')]),
    rule: 'webhooks/mutating',
    severity: 'warning',
    found: 'reinvocationPolicy is Never, not IfNeeded: Muster is not called again',
    fix: PRINTED,
  },
  {
    what: 'matchPolicy Exact',
    harm: patched(VALIDATING, [put('/webhooks/0/matchPolicy', 'Exact')]),
    rule: 'webhooks/validating',
    found: 'webhooks[pods.muster.dev].matchPolicy is Exact, not Equivalent',
    fix: PRINTED,
  },
  {
    what: 'one webhook gone',
    harm: patched(VALIDATING, [removed('/webhooks/2')]),
    rule: 'webhooks/validating',
    found: 'webhooks[hpcpolicies.muster.dev] is not there: its objects do not come to Muster',
    fix: PRINTED,
    // What is printed calls the Service, which nobody answers for here.
    heal: installed,
  },
  {
    what: 'a whole configuration gone',
    harm: deleted(MUTATING),
    rule: 'webhooks/mutating',
    found: 'there is no MutatingWebhookConfiguration muster: its objects do not come to Muster',
    fix: 'apply the manifests of this version again, or this one',
    heal: installed,
  },
  {
    what: 'a path that Muster does not answer at',
    harm: patched(MUTATING, [put('/webhooks/0/clientConfig/url', 'https://127.0.0.1:1/mutate')]),
    rule: 'webhooks/mutating',
    found: 'pods.muster.dev in muster calls /mutate, and Muster answers at /mutate-v1-pod',
    fix: 'kubectl apply -k manifests/base',
    heal: installed,
  },
  {
    what: 'webhooks that are registered twice',
    harm: harming(`${ADMISSION}/validatingwebhookconfigurations/muster-old`, async (client) => {
      const { webhooks } = await client.ok<{ webhooks: readonly object[] }>('GET', VALIDATING);
      const metadata = { name: 'muster-old', labels: { 'app.kubernetes.io/part-of': 'muster' } };
      const kind = 'ValidatingWebhookConfiguration';
      const [first] = webhooks;
      const copy = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata, webhooks: [first] };
      await client.ok('POST', `${ADMISSION}/validatingwebhookconfigurations`, copy);
    }),
    rule: 'webhooks/validating',
    severity: 'warning',
    found: 'pods.muster.dev is registered 2 times, in muster and muster-old: each request comes as often',
    fix: 'kubectl delete validatingwebhookconfiguration with the name that is not Muster’s',
  },
];

const CERTIFICATES: readonly Broken[] = [
  {
    what: 'a caBundle of another CA',
    harm: harming(VALIDATING, async (client) => {
      const { caCertificate } = await foreignCertificate();
      await client.ok('PATCH', VALIDATING, [put('/webhooks/1/clientConfig/caBundle', base64(caCertificate))]);
    }),
    rule: 'certificate/ca',
    found:
      'the caBundle of podgangs.muster.dev in ValidatingWebhookConfiguration muster does not lead to the certificate that Muster shows',
    fix: 'put the CA of the serving certificate into caBundle',
  },
  {
    what: 'no caBundle',
    harm: patched(MUTATING, [removed('/webhooks/1/clientConfig/caBundle')]),
    rule: 'certificate/ca',
    found: 'podgangs.muster.dev in MutatingWebhookConfiguration muster has no caBundle',
    fix: 'put the CA of the serving certificate into caBundle',
  },
  {
    what: 'a foreign CA in the caBundle, beside the right one',
    harm: harming(MUTATING, async (client, { on }) => {
      const { caCertificate } = await foreignCertificate();
      const both = base64(`${on.certificates.ca}${caCertificate}`);
      await client.ok('PATCH', MUTATING, [put('/webhooks/0/clientConfig/caBundle', both)]);
    }),
    rule: 'certificate/ca',
    severity: 'warning',
    found: 'also trusts CN=',
    fix: 'nothing while the CA is being replaced; else take it out of caBundle',
  },
  {
    what: 'a certificate that is not valid yet',
    harm: (_client, whole) => whole.showing({ now: inDays(3), days: 2 }),
    rule: 'certificate/dates',
    found: 'is not valid before',
    fix: 'compare the clocks of the nodes',
    heal: installed,
  },
  {
    what: 'a certificate that has expired',
    harm: (_client, whole) => whole.showing({ now: inDays(-3), days: 2 }),
    rule: 'certificate/dates',
    found: 'expired on',
    fix: 'kubectl -n muster-system get certificate,secret',
    heal: installed,
  },
  {
    what: 'a certificate for somebody else',
    harm: (_client, whole) => whole.showing({ now: inDays(0), days: 2, dnsNames: ['other.example'] }),
    rule: 'certificate/names',
    found: 'the API server calls 127.0.0.1, and the certificate of 127.0.0.1:',
    fix: 'issue it with 127.0.0.1 among its DNS names',
    heal: installed,
  },
  {
    what: 'the Secret deleted',
    harm: deleted(SECRET),
    rule: 'certificate/secret',
    found:
      'the Deployment needs the Secret muster-system/muster-serving-cert, which is not there: a Pod that starts now waits for it',
    fix: 'make one as in docs/manifests.md, Certificates',
    heal: (_client, whole) => whole.putSecret(),
  },
  {
    what: 'the Secret renamed',
    harm: patched(DEPLOYMENT, [put('/spec/template/spec/volumes/1/secret/secretName', 'muster-cert')]),
    rule: 'certificate/secret',
    found: 'the Deployment needs the Secret muster-system/muster-cert, which is not there',
    fix: 'muster-serving-cert is there: mount that one',
  },
  {
    what: 'a Secret without its key',
    harm: harming(SECRET, (_client, whole) => whole.putSecret({ 'tls.crt': base64('x') })),
    rule: 'certificate/secret',
    found: 'which has no tls.key: a Pod that starts now waits for it',
    fix: 'put tls.key into Secret muster-system/muster-serving-cert',
    heal: (_client, whole) => whole.putSecret(),
  },
  {
    what: 'a certificate that cert-manager issues for another name',
    harm: patched('/apis/cert-manager.io/v1/namespaces/muster-system/certificates/muster-serving', [
      put('/spec/dnsNames', ['muster.example']),
    ]),
    rule: 'certificate/issuer',
    found: 'Certificate muster-serving: spec.dnsNames is ["muster.example"], not',
    fix: PRINTED,
  },
];

const KEPT = `${SYSTEM}/secrets/muster-certificates`;
const emptied: Harm = (client) => client.ok('PATCH', KEPT, { data: null });
/** A pair of Muster's Secret, by the end of its keys. */
const pair = (name: string, { certificate, key }: Issued): object => ({
  [`${name}.crt`]: base64(certificate),
  [`${name}.key`]: base64(key),
});
const SAYS_WHY = 'kubectl -n muster-system logs deployment/muster';

/** Of `manifests/overlays/in-cluster`: those that printed commands mend, then those that Muster mends itself. */
export const BROKEN_IN_CLUSTER: readonly (readonly Broken[])[] = [
  [
    {
      what: 'the Secret of the certificates deleted',
      harm: deleted(KEPT),
      rule: 'certificate/secret',
      found: 'there is no Secret muster-system/muster-certificates',
      fix: 'apply manifests/components/in-cluster-certificates, in which it is empty',
    },
    {
      what: 'cert-manager’s annotation',
      harm: patched(MUTATING, {
        metadata: { annotations: { 'cert-manager.io/inject-ca-from': 'muster-system/muster-serving' } },
      }),
      rule: 'certificate/ca',
      found: 'MutatingWebhookConfiguration muster has the annotation cert-manager.io/inject-ca-from',
      fix: 'take it off, or set server.certificates.mode to files',
    },
    {
      what: 'no right to write caBundles',
      harm: patched(`${RBAC}/clusterroles/muster-certificates`, [put('/rules/0/verbs', ['get', 'watch'])]),
      rule: 'rights/account',
      found: 'may not patch mutatingwebhookconfigurations.admissionregistration.k8s.io muster',
      fix: 'the roles for backends and settings are in manifests/components',
    },
    {
      what: 'no right to the Secret',
      harm: deleted(`${RBAC}/namespaces/muster-system/rolebindings/muster-certificates`),
      rule: 'rights/account',
      found: 'may not get, watch, patch secrets muster-certificates in muster-system',
      fix: 'the roles for backends and settings are in manifests/components',
    },
  ],
  [
    {
      what: 'the mode without the objects of its component',
      harm: inTheEnd(
        deleted(KEPT),
        ...['roles', 'rolebindings'].map((kind) =>
          deleted(`${RBAC}/namespaces/muster-system/${kind}/muster-certificates`),
        ),
        ...['clusterroles', 'clusterrolebindings'].map((kind) =>
          deleted(`${RBAC}/${kind}/muster-certificates`),
        ),
        deleted(policy('muster-account-webhooks')),
        deleted(bindingOf('muster-account-webhooks')),
      ),
      rule: 'rights/roles',
      found: 'there is no ClusterRole muster-certificates: Muster’s account lacks these rights',
      fix: PRINTED,
    },
  ],
  [
    {
      what: 'a Secret that is damaged',
      harm: patched(KEPT, { data: { 'tls.crt': base64('x') } }),
      rule: 'certificate/secret',
      found: 'Secret muster-system/muster-certificates: tls.crt or tls.key is not PEM',
      fix: SAYS_WHY,
      heal: emptied,
    },
  ],
  [
    {
      what: 'a CA that has expired',
      harm: harming(KEPT, async (client) => {
        const authority = await issueAuthority({ commonName: 'Muster CA old', now: inDays(-3), days: 2 });
        await client.ok('PATCH', KEPT, { data: pair('ca', authority) });
      }),
      rule: 'certificate/dates',
      found: 'ca.crt of the Secret muster-system/muster-certificates expired on',
      fix: SAYS_WHY,
      heal: emptied,
    },
    {
      what: 'a leaf that no caBundle covers',
      harm: async (client) => {
        const authority = await issueAuthority({ commonName: 'Muster CA next', now: inDays(0), days: 2 });
        const dnsNames = ['127.0.0.1'];
        const leaf = await issueServingCertificate({ authority, dnsNames, now: inDays(0), days: 1 });
        await client.ok('PATCH', KEPT, { data: pair('tls', leaf) });
      },
      rule: 'certificate/ca',
      found:
        'no valid CA of tls.crt of the Secret muster-system/muster-certificates is in the caBundle of pods.muster.dev in MutatingWebhookConfiguration muster, ',
      fix: SAYS_WHY,
      heal: emptied,
    },
  ],
];

const POLICIES: readonly Broken[] = [
  {
    what: 'a binding that only warns',
    harm: patched(bindingOf(GATE), [put('/spec/validationActions', ['Warn'])]),
    rule: 'policies/validating',
    found: `ValidatingAdmissionPolicyBinding ${GATE}: spec.validationActions is ["Warn"], not ["Deny"]: what it refuses passes`,
    fix: 'make it spec.validationActions ["Deny"]',
  },
  {
    what: 'a binding that is narrowed',
    harm: patched(bindingOf(GATE), [
      put('/spec/matchResources', { namespaceSelector: { matchLabels: { team: 'a' } } }),
    ]),
    rule: 'policies/validating',
    found: `ValidatingAdmissionPolicyBinding ${GATE}: spec.matchResources is not shipped`,
    fix: 'make it without spec.matchResources',
  },
  {
    what: 'a policy with failurePolicy Ignore',
    harm: patched(policy(GATE), [put('/spec/failurePolicy', 'Ignore')]),
    rule: 'policies/validating',
    found: `ValidatingAdmissionPolicy ${GATE}: spec.failurePolicy is Ignore, not Fail: where it cannot be evaluated everything passes`,
    fix: 'make it spec.failurePolicy Fail',
  },
  {
    what: 'a policy whose expression is hollow',
    harm: patched(policy(GATE), [put('/spec/validations/0/expression', 'true')]),
    rule: 'policies/validating',
    found: `ValidatingAdmissionPolicy ${GATE}: spec.validations[0].expression is true, not !variables.wasMember`,
    fix: PRINTED,
  },
  {
    what: 'a policy whose variable is hollow',
    harm: patched(policy(GATE), [put('/spec/variables/2/expression', 'true')]),
    rule: 'policies/validating',
    found: 'spec.variables[isGated].expression is true, not object.spec',
    fix: PRINTED,
  },
  {
    what: 'a policy with one condition more',
    harm: patched(policy(GATE), [
      put('/spec/matchConditions/-', {
        name: 'not-alice',
        expression: "request.userInfo.username != 'alice'",
      }),
    ]),
    rule: 'policies/validating',
    found: 'spec.matchConditions[not-alice] is not shipped',
    fix: 'make it without spec.matchConditions[not-alice]',
  },
  {
    what: 'a policy with one validation less',
    harm: patched(policy('muster-podgang-spec'), [removed('/spec/validations/0')]),
    rule: 'policies/validating',
    found: 'ValidatingAdmissionPolicy muster-podgang-spec: spec.validations is',
    fix: PRINTED,
  },
  {
    what: 'a policy that is not asked about status',
    harm: patched(policy(GATE), [put('/spec/matchConstraints/resourceRules/0/resources', ['pods'])]),
    rule: 'policies/validating',
    found: 'spec.matchConstraints.resourceRules is',
    fix: PRINTED,
  },
  {
    what: 'a policy that leaves out a namespace',
    harm: patched(policy('muster-pod-binding'), [
      put('/spec/matchConstraints/namespaceSelector', { matchLabels: { team: 'a' } }),
    ]),
    rule: 'policies/validating',
    found: 'ValidatingAdmissionPolicy muster-pod-binding: spec.matchConstraints.namespaceSelector is',
    fix: PRINTED,
  },
  {
    what: 'a policy with another message',
    harm: patched(policy(GATE), [put('/spec/validations/0/message', 'no')]),
    rule: 'policies/validating',
    severity: 'warning',
    found: 'spec.validations[0].message is no, not spec.schedulingGates: Forbidden',
    fix: PRINTED,
  },
  {
    what: 'a gate policy deleted',
    harm: deleted(policy(GATE)),
    rule: 'policies/validating',
    found: `there is no ValidatingAdmissionPolicy ${GATE}: without it the API server does not keep by itself what it keeps`,
    fix: 'apply the manifests of this version again, or this one',
  },
  {
    what: 'a binding deleted',
    harm: deleted(bindingOf('muster-pod-binding')),
    rule: 'policies/validating',
    found:
      'there is no ValidatingAdmissionPolicyBinding muster-pod-binding: its policy is not bound, so without effect',
    fix: 'apply the manifests of this version again, or this one',
  },
  {
    what: 'the policy that adds the gate deleted',
    harm: deleted(`${ADMISSION}/mutatingadmissionpolicies/muster-add-gang-gate`),
    rule: 'policies/mutating',
    found: 'there is no MutatingAdmissionPolicy muster-add-gang-gate',
    fix: PRINTED,
  },
  {
    what: 'the binding of the policy that adds the gate deleted',
    harm: deleted(`${ADMISSION}/mutatingadmissionpolicybindings/muster-add-gang-gate`),
    rule: 'policies/mutating',
    found: 'there is no MutatingAdmissionPolicyBinding muster-add-gang-gate: its policy is not bound',
    fix: PRINTED,
  },
  {
    what: 'the policy that adds the gate with failurePolicy Ignore',
    harm: patched(`${ADMISSION}/mutatingadmissionpolicies/muster-add-gang-gate`, [
      put('/spec/failurePolicy', 'Ignore'),
    ]),
    rule: 'policies/mutating',
    found: 'MutatingAdmissionPolicy muster-add-gang-gate: spec.failurePolicy is Ignore, not Fail',
    fix: PRINTED,
  },
  {
    what: 'a policy that trusts others than the configuration',
    harm: patched(policy(GATE), [put('/spec/variables/0/expression', "['system:serviceaccount:x:y']")]),
    rule: 'policies/accounts',
    found: `${GATE} refuses system:serviceaccount:muster-system:muster, which the configuration trusts`,
    fix: 'kubectl apply -k manifests/policies',
    heal: installed,
  },
  {
    what: 'a policy of another version',
    harm: harming(policy('muster-of-old'), async (client) => {
      const { spec } = await client.ok<{ spec: object }>('GET', policy(GATE));
      const labels = { 'app.kubernetes.io/part-of': 'muster' };
      const kind = 'ValidatingAdmissionPolicy';
      await client.ok('POST', `${ADMISSION}/validatingadmissionpolicies`, {
        ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind },
        ...{ metadata: { name: 'muster-of-old', labels }, spec },
      });
    }),
    rule: 'policies/validating',
    severity: 'warning',
    found:
      'ValidatingAdmissionPolicy muster-of-old is labelled as Muster’s, and this version ships none of that name',
    fix: 'kubectl delete it, if nobody else needs it',
  },
];

const RIGHTS: readonly Broken[] = [
  {
    what: 'the ServiceAccount deleted',
    harm: deleted(`${SYSTEM}/serviceaccounts/muster`),
    rule: 'program/account',
    found: 'there is no ServiceAccount muster: no Pod can run under it',
    fix: PRINTED,
  },
  {
    what: 'a right lost',
    harm: patched(`${RBAC}/clusterroles/muster`, [removed('/rules/4')]),
    rule: 'rights/roles',
    found: 'ClusterRole muster: rules is',
    fix: PRINTED,
  },
  {
    what: 'a right more than it needs',
    harm: patched(`${RBAC}/clusterroles/muster`, [
      put('/rules/-', { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }),
    ]),
    rule: 'rights/roles',
    severity: 'warning',
    found: 'Muster’s account, or whoever has it, may do something else than it would be allowed',
    fix: PRINTED,
  },
  {
    what: 'a role deleted',
    harm: deleted(`${RBAC}/namespaces/muster-system/roles/muster-leader-election`),
    rule: 'rights/roles',
    found: 'there is no Role muster-leader-election: Muster’s account lacks these rights',
    fix: PRINTED,
  },
  {
    what: 'a binding deleted',
    harm: deleted(`${RBAC}/clusterrolebindings/muster`),
    rule: 'rights/bindings',
    found: 'there is no ClusterRoleBinding muster: nobody has the rights of its role',
    fix: PRINTED,
  },
  {
    what: 'a binding for an account of another namespace',
    harm: patched(`${RBAC}/clusterrolebindings/muster`, [put('/subjects/0/namespace', 'other')]),
    rule: 'rights/bindings',
    found: 'ClusterRoleBinding muster: subjects is',
    fix: PRINTED,
  },
  {
    what: 'a role that is of no built-in role any more',
    harm: patched(`${RBAC}/clusterroles/muster-podgang-editor`, [
      removed('/metadata/labels/rbac.authorization.k8s.io~1aggregate-to-edit'),
    ]),
    rule: 'rights/roles',
    severity: 'warning',
    found: 'metadata.labels[rbac.authorization.k8s.io/aggregate-to-edit] is not there',
    fix: PRINTED,
  },
];

const PROGRAM: readonly Broken[] = [
  {
    what: 'a rollout that is stuck behind replicas that serve',
    harm: harming(`${DEPLOYMENT}/status`, (_client, whole) =>
      whole.rolledOut({
        updatedReplicas: 1,
        conditions: [
          {
            ...{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' },
            message: 'ReplicaSet "muster-1" has timed out progressing.',
          },
        ],
      }),
    ),
    rule: 'program/rollout',
    found:
      'the rollout is stuck: 1 of 3 replicas are of the present template (ReplicaSet "muster-1" has timed out progressing.)',
    fix: 'kubectl -n muster-system describe pods: their Events say why; or go back to what ran before',
    heal: rolledOut,
  },
  {
    what: 'Pods that are not created',
    harm: harming(`${DEPLOYMENT}/status`, (_client, whole) =>
      whole.rolledOut({
        conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: small' }],
      }),
    ),
    rule: 'program/rollout',
    found: 'Pods of the Deployment are not created: exceeded quota: small',
    fix: 'mend what the message names',
    heal: rolledOut,
  },
  {
    what: 'no replica ready',
    harm: harming(`${DEPLOYMENT}/status`, (_client, whole) =>
      whole.rolledOut({ readyReplicas: 0, availableReplicas: 0 }),
    ),
    rule: 'program/deployment',
    found: '0 of 3 replicas are ready',
    fix: 'kubectl -n muster-system get pods',
    heal: rolledOut,
  },
  {
    what: 'another account',
    harm: patched(DEPLOYMENT, { spec: { template: { spec: { serviceAccountName: 'default' } } } }),
    rule: 'program/deployment',
    found: 'spec.template.spec.serviceAccountName is default, not muster',
    fix: PRINTED,
  },
  {
    what: 'no certificate among the arguments',
    harm: patched(DEPLOYMENT, [removed('/spec/template/spec/containers/0/args/2')]),
    rule: 'program/deployment',
    found:
      'spec.template.spec.containers[muster].args is ["serve","--config=/etc/muster/config/config.yaml"], not',
    fix: PRINTED,
  },
  {
    what: 'killed before it has drained',
    harm: patched(DEPLOYMENT, { spec: { template: { spec: { terminationGracePeriodSeconds: 30 } } } }),
    rule: 'program/deployment',
    found: 'terminationGracePeriodSeconds is 30, not 120: a replica is killed before it has drained',
    fix: PRINTED,
  },
  {
    what: 'more privileges',
    harm: patched(DEPLOYMENT, [
      put('/spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem', false),
    ]),
    rule: 'program/deployment',
    severity: 'warning',
    found: 'containers[muster].securityContext is',
    fix: PRINTED,
  },
  {
    what: 'the Service deleted',
    harm: deleted(`${SYSTEM}/services/muster`),
    rule: 'program/service',
    found: 'there is no Service muster: the API server does not find Muster',
    fix: PRINTED,
  },
  {
    what: 'a Service for other Pods',
    harm: patched(`${SYSTEM}/services/muster`, { spec: { selector: { version: '2' } } }),
    rule: 'program/service',
    found: 'Service muster: spec.selector is {"app.kubernetes.io/name":"muster","version":"2"}, not',
    fix: PRINTED,
  },
  {
    what: 'a Service to another port',
    harm: patched(`${SYSTEM}/services/muster`, [put('/spec/ports/0/targetPort', 8443)]),
    rule: 'program/service',
    found: 'spec.ports[webhooks].targetPort is 8443, not webhooks',
    fix: PRINTED,
  },
  {
    what: 'a NetworkPolicy without the port of the webhooks',
    harm: patched(NETWORK, [removed('/spec/ingress/0/ports/0')]),
    rule: 'program/network',
    found: 'no NetworkPolicy lets anybody in to port webhooks: API servers do not reach Muster',
    fix: 'apply the NetworkPolicy of this version',
  },
  {
    what: 'a NetworkPolicy that lets in only Pods',
    harm: patched(NETWORK, [put('/spec/ingress/0/from', [{ podSelector: {} }])]),
    rule: 'program/network',
    severity: 'warning',
    found: 'only Pods are let in to port webhooks, and API servers and kubelets mostly call from hosts',
    fix: 'apply the NetworkPolicy of this version',
    heal: installed,
  },
  {
    what: 'a NetworkPolicy that keeps it from the API server',
    harm: patched(NETWORK, [put('/spec/egress', [])]),
    rule: 'program/network',
    found: 'no NetworkPolicy lets Muster out to port 443 or 6443: it does not reach the API server',
    fix: 'apply the NetworkPolicy of this version',
  },
  {
    what: 'a NetworkPolicy for other Pods',
    harm: patched(NETWORK, { spec: { podSelector: { matchLabels: { app: 'other' } } } }),
    rule: 'program/network',
    found: 'NetworkPolicy muster: spec.podSelector is',
    fix: PRINTED,
  },
  {
    what: 'the NetworkPolicy deleted',
    harm: deleted(NETWORK),
    rule: 'program/network',
    found: 'there is no NetworkPolicy muster: whoever reaches the Pods reaches each of their ports',
    fix: PRINTED,
  },
  {
    what: 'the PodDisruptionBudget deleted',
    harm: deleted(BUDGET),
    rule: 'program/budget',
    found: 'there is no PodDisruptionBudget muster: a drain of nodes may take every replica at once',
    fix: PRINTED,
  },
  {
    what: 'a PodDisruptionBudget for other Pods',
    harm: patched(BUDGET, { spec: { selector: { matchLabels: { app: 'other' } } } }),
    rule: 'program/budget',
    found: 'PodDisruptionBudget muster: spec.selector is',
    fix: PRINTED,
  },
  {
    what: 'a PodDisruptionBudget that lets nobody go',
    harm: patched(BUDGET, { spec: { minAvailable: 3 } }),
    rule: 'program/budget',
    found: 'PodDisruptionBudget muster lets no replica of 3 go: nodes with one cannot be drained',
    fix: 'leave one of 3 replicas to a drain: minAvailable 2',
  },
  {
    what: 'a PodDisruptionBudget that lets everybody go',
    harm: patched(BUDGET, { spec: { minAvailable: '0%' } }),
    rule: 'program/budget',
    found: 'lets all 3 replicas go at once: gangs cannot be created while a drain lasts',
    fix: 'minAvailable 2',
  },
  {
    what: 'the ResourceQuota deleted',
    harm: deleted(`${SYSTEM}/resourcequotas/muster-critical-pods`),
    rule: 'program/quota',
    severity: 'warning',
    found:
      'there is no ResourceQuota muster-critical-pods: clusters that limit system-cluster-critical refuse',
    fix: PRINTED,
  },
  {
    what: 'a namespace that no longer enforces Pod Security',
    harm: patched('/api/v1/namespaces/muster-system', {
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    }),
    rule: 'program/namespace',
    severity: 'warning',
    found: 'metadata.labels[pod-security.kubernetes.io/enforce] is privileged, not restricted',
    fix: PRINTED,
  },
  {
    what: 'the ConfigMap deleted',
    harm: deleted(`${SYSTEM}/configmaps/muster-config`),
    rule: 'program/mounts',
    found: 'the Deployment needs the ConfigMap muster-system/muster-config, which is not there',
    fix: 'make it, or take it out of the Deployment',
    heal: installed,
  },
  {
    what: 'a configuration that is wrong',
    harm: patched(`${SYSTEM}/configmaps/muster-config`, { data: { 'config.yaml': 'kind: Other' } }),
    rule: 'program/configuration',
    found: 'ConfigMap muster-system/muster-config is wrong',
    fix: 'muster validate -f says where',
    heal: installed,
  },
];

const SURROUNDINGS: readonly Broken[] = [
  {
    what: 'two Musters',
    harm: harming('/apis/apps/v1/namespaces/ml/deployments/muster', async (client) => {
      const { spec } = await client.ok<{ spec: object }>('GET', DEPLOYMENT);
      await client.ok('POST', '/apis/apps/v1/namespaces/ml/deployments', {
        metadata: { name: 'muster', labels: { 'app.kubernetes.io/name': 'muster' } },
        spec,
      });
    }),
    rule: 'program/alone',
    found: 'another Muster is installed, Deployment ml/muster: each runs a loop of its own',
    fix: 'keep one: take the other’s webhooks and policies away, and its replicas',
  },
  {
    what: 'a second loop, wherever it runs',
    harm: harming(LEASE, (client) =>
      client.ok('POST', '/apis/coordination.k8s.io/v1/namespaces/ml/leases', {
        metadata: { name: 'muster-leader-election' },
        spec: {
          ...{ holderIdentity: 'elsewhere', leaseDurationSeconds: 3600 },
          renewTime: new Date().toISOString().replace('Z', '000Z'),
        },
      }),
    ),
    rule: 'program/alone',
    found: 'another Muster leads in ml (elsewhere holds its Lease)',
    fix: 'keep one: end the other, wherever it runs',
    heal: deleted(LEASE),
  },
  ...(
    [
      ['kube-scheduler', 'PodGroups are stored and nobody counts by them'],
      ['kube-controller-manager', 'PodGroups that are deleted never go'],
    ] as const
  ).map(([component, follows]): Broken => {
    const needed = (gatedReleaseOf(RELEASE.version)?.gates ?? [])
      .filter((gate) => gate.needed && gate.components.includes(component))
      .map(({ name }) => name);
    const pods = '/api/v1/namespaces/kube-system/pods';
    const away = deleted(`${pods}/${component}-node-1?gracePeriodSeconds=0`);
    const back =
      (flags?: string): Harm =>
      (client) =>
        client.ok('POST', pods, controlPlanePod(component, flags));
    return {
      what: `${component} without the feature gates that the API server has`,
      harm: harming(`${pods}/${component}-node-1`, inTheEnd(away, back('--v=2'))),
      rule: 'backends/feature gates',
      found: `and ${component} (Pod ${component}-node-1) runs without the feature gate ${needed.join(', ')}: ${follows}`,
      fix: `to the flags of ${component}, or set config.api to none in the profile default-scheduler`,
      heal: inTheEnd(away, back()),
    };
  }),
  {
    what: 'a definition deleted',
    harm: deleted(`${CRDS}/hpcpolicies.muster.dev`),
    rule: 'definitions/fields',
    found:
      'there is no CustomResourceDefinition hpcpolicies.muster.dev: the cluster does not know its objects',
    fix: PRINTED,
  },
  {
    what: 'a definition with a field less',
    harm: patched(`${CRDS}/podgangs.scheduler.grove.io`, [
      removed(
        '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/podgroups/items/properties/minReplicas',
      ),
    ]),
    rule: 'definitions/podgangs.scheduler.grove.io',
    found: 'does not know spec.podgroups[].minReplicas: the API server drops it',
    fix: 'kubectl apply -k manifests/crds',
  },
  {
    what: 'a definition that refuses what Muster writes',
    harm: patched(`${CRDS}/podgangs.scheduler.grove.io`, [
      put('/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/podgroups/maxItems', 2),
    ]),
    rule: 'definitions/fields',
    severity: 'warning',
    found: 'properties.podgroups.maxItems is not shipped, here it is 2',
    fix: PRINTED,
  },
];

const inDays = (days: number): Date => new Date(Date.now() + days * 24 * 60 * 60 * 1000);
const foreignCertificate = () => issueDevelopmentCertificates({ dnsNames: ['x'], days: 1, now: new Date() });

export const BROKEN: readonly Broken[] = [
  ...WEBHOOKS,
  ...CERTIFICATES,
  ...POLICIES,
  ...RIGHTS,
  ...PROGRAM,
  ...SURROUNDINGS,
];

/** So many at once, so that a round is found and mended within its time on a busy machine. */
const MOST = 8;

/**
 * All rows, those together that harm different objects and are all mended by what is printed, or all otherwise. One that
 * harms more than an object is alone.
 */
export function rounds(rows: readonly Broken[]): (readonly Broken[])[] {
  const all: Broken[][] = [];
  for (const row of rows) {
    const fits = ({ harm, heal }: Broken): boolean =>
      harm.at !== undefined && harm.at !== row.harm.at && (heal === undefined) === (row.heal === undefined);
    const round = row.harm.at && all.find((some) => some.length < MOST && some.every(fits));
    if (round) round.push(row);
    else all.push([row]);
  }
  return all;
}
