import { expect } from '@jest/globals';
import { MUSTER_NAMESPACE } from '../../../../src/api/names.ts';
import { until } from '../../control-plane/until.ts';
import { DRY_RUN, gangPod, PODS } from '../../support/registered-muster.ts';
import { APPLY, MASTERS, MUSTER, RBAC, type Scene } from '../scene.ts';
import { open, policy, refuserOf, rights, unreachable, type Answer, type Way } from '../way.ts';

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const KINDS = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] as const;
const CONFIGURATIONS = KINDS.map((kind) => `${ADMISSION}/${kind}/muster`);
const SECRETS = `/api/v1/namespaces/${MUSTER_NAMESPACE}/secrets`;
const SECRET = `${SECRETS}/muster-certificates`;
const BOUNDS = policy('account-webhooks', 'AccountBounds');
const CA_BUNDLE = '/webhooks/0/clientConfig/caBundle';
const labelled = { metadata: { labels: { x: 'y' } } };

interface Stored {
  readonly metadata: object;
  readonly webhooks: readonly (Readonly<Record<string, unknown>> & {
    readonly clientConfig: { readonly caBundle: string };
  })[];
}
const stored = (scene: Scene): Promise<Stored[]> =>
  Promise.all(CONFIGURATIONS.map((path) => scene.get<Stored>(path)));
const bundle = (value: string): object[] => [{ op: 'replace', path: CA_BUNDLE, value }];
/** Of the cluster and of Muster's namespace, so of a name that no other scene gives. */
const theirs = ({ namespace }: Scene): string => `theirs-${namespace}`;
/** What asks nobody: there are no such objects. */
const foreign = (scene: Scene, name = theirs(scene)): object => ({
  metadata: { name },
  webhooks: [
    {
      name: 'nothing.example.com',
      ...{ admissionReviewVersions: ['v1'], sideEffects: 'None' },
      rules: [
        { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] },
      ],
      clientConfig: { url: 'https://127.0.0.1:1/' },
    },
  ],
});
const bind = (scene: Scene, namespace: string, role: string): Promise<unknown> =>
  scene.make(`${RBAC}/namespaces/${namespace}/rolebindings`, {
    metadata: { name: theirs(scene) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: scene.tenant.as }],
  });

/** What the rights of `in-cluster-certificates` are good for, and who else comes to the keys. */
export const CERTIFICATE_WAYS: readonly Way[] = [
  {
    who: 'token',
    component: 'in-cluster-certificates',
    tries:
      'changes rules, `failurePolicy`, address, selectors, conditions, time limit or labels of Muster’s webhooks, takes one off, or adds one',
    ends: { up: BOUNDS, down: BOUNDS },
    attempt: async (scene) => {
      const before = await stored(scene);
      const answers: Answer[] = [];
      for (const [index, path] of CONFIGURATIONS.entries()) {
        const [first] = before[index]?.webhooks ?? [];
        const write = (field: string, value: unknown): object[] => [
          { op: 'add', path: `/webhooks/0/${field}`, value },
        ];
        for (const change of [
          write('rules/0/resources', ['*/*']),
          write('rules/-', { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }),
          write('failurePolicy', 'Ignore'),
          write('clientConfig/url', 'https://127.0.0.1:1/'),
          [
            { op: 'remove', path: '/webhooks/0/clientConfig/url' },
            ...write('clientConfig/service', { namespace: 'evil', name: 'evil' }),
          ],
          write('namespaceSelector', { matchLabels: { x: 'y' } }),
          write('objectSelector', { matchLabels: { x: 'y' } }),
          write('matchConditions', [{ name: 'never', expression: 'false' }]),
          write('timeoutSeconds', 30),
          [{ op: 'remove', path: '/webhooks/0' }],
          [{ op: 'add', path: '/webhooks/-', value: { ...first, name: 'evil.example.com' } }],
          { webhooks: [] },
          labelled,
          // With a caBundle that he may write.
          [...bundle(''), ...write('failurePolicy', 'Ignore')],
        ])
          answers.push(await scene.send(MUSTER, 'PATCH', path, change));
        const applied = { apiVersion: 'admissionregistration.k8s.io/v1', kind: kindOf(path) };
        answers.push(
          await scene.send(
            MUSTER,
            'PATCH',
            path,
            { ...applied, metadata: { name: 'muster', labels: { x: 'y' } } },
            APPLY('evil'),
          ),
        );
      }
      expect(await stored(scene)).toEqual(before);
      return answers;
    },
  },
  {
    who: 'token',
    component: 'in-cluster-certificates',
    tries:
      'makes, replaces or deletes webhook configurations, writes a `caBundle` of another’s, or changes the policy that bounds it',
    ends: rights,
    given: async (scene) => {
      for (const kind of KINDS) await scene.make(`${ADMISSION}/${kind}`, foreign(scene));
    },
    attempt: (scene) =>
      Promise.all([
        ...KINDS.flatMap((kind) => {
          const [own, other] = ['muster', theirs(scene)].map((name) => `${ADMISSION}/${kind}/${name}`);
          return [
            scene.send(MUSTER, 'POST', `${ADMISSION}/${kind}`, foreign(scene, `more-${scene.namespace}`)),
            scene.send(MUSTER, 'PUT', own ?? '', foreign(scene, 'muster')),
            scene.send(MUSTER, 'DELETE', own ?? ''),
            scene.send(MUSTER, 'DELETE', `${ADMISSION}/${kind}`),
            scene.send(MUSTER, 'GET', other ?? ''),
            scene.send(MUSTER, 'PATCH', other ?? '', [{ ...bundle('')[0], op: 'add' }]),
            scene.send(MUSTER, 'DELETE', other ?? ''),
          ];
        }),
        ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].flatMap((kind) => {
          const path = `${ADMISSION}/${kind}/muster-account-webhooks`;
          return [scene.send(MUSTER, 'PATCH', path, labelled), scene.send(MUSTER, 'DELETE', path)];
        }),
      ]),
  },
  {
    who: 'token',
    component: 'in-cluster-certificates',
    tries: 'reads, changes or deletes other Secrets of `muster-system`, lists them, or deletes its own',
    ends: rights,
    given: (scene) => scene.make(SECRETS, { metadata: { name: theirs(scene) }, data: { key: 'eA==' } }),
    attempt: (scene) => {
      const other = `${SECRETS}/${theirs(scene)}`;
      return Promise.all([
        scene.send(MUSTER, 'GET', SECRETS),
        scene.send(MUSTER, 'GET', other),
        scene.send(MUSTER, 'PATCH', other, { data: null }),
        scene.send(MUSTER, 'DELETE', other),
        scene.send(MUSTER, 'DELETE', SECRET),
        scene.send(MUSTER, 'GET', `/api/v1/namespaces/${scene.namespace}/secrets/muster-certificates`),
      ]);
    },
    then: async (scene) =>
      expect(await scene.get(`${SECRETS}/${theirs(scene)}`)).toMatchObject({ data: { key: 'eA==' } }),
  },
  {
    who: 'token',
    component: 'in-cluster-certificates',
    tries:
      'reads the key of Muster’s CA, puts another into the Secret, and writes `caBundle`s of Muster’s webhooks',
    alone: true,
    ends: {
      up: open(
        200,
        'that is what the right is for: it can have every gang refused, and answer for Muster where it can also take Muster’s address. Files, by cert-manager or by hand, give no such right',
      ),
    },
    attempt: async (scene) => {
      const before = await stored(scene);
      const asked = (): Promise<Answer> =>
        scene.send(
          MASTERS,
          'POST',
          PODS,
          gangPod({ name: 'probe' }, {}, { 'grove.io/podclique': '' }),
          DRY_RUN,
        );
      const answers = [
        await scene.send(MUSTER, 'GET', SECRET),
        await scene.send(MUSTER, 'PATCH', SECRET, { data: { 'ca.key': 'eA==' } }),
      ];
      try {
        for (const path of CONFIGURATIONS) answers.push(await scene.send(MUSTER, 'PATCH', path, bundle('')));
        const { by } = unreachable('pods') as { readonly by: unknown };
        await until('Pods of gangs are refused', async () => {
          expect(refuserOf(await asked())).toEqual(by);
          return true;
        });
      } finally {
        await scene.send(MASTERS, 'PATCH', SECRET, { data: null });
        for (const [index, path] of CONFIGURATIONS.entries()) {
          const value = before[index]?.webhooks[0]?.clientConfig.caBundle ?? '';
          await scene.send(MASTERS, 'PATCH', path, bundle(value));
        }
      }
      await until('Muster is asked again', async () => refuserOf(await asked()).kind === 'webhook');
      return answers;
    },
  },
  {
    who: 'tenant',
    tries:
      'reads, changes, watches or deletes the Secret with the key of Muster’s CA, also with `view` of `muster-system`',
    ends: rights,
    given: (scene) => bind(scene, MUSTER_NAMESPACE, 'view'),
    attempt: async (scene) => {
      // He is in: what keeps him out is that `view` has no Secrets.
      const seen = await scene.send(scene.tenant, 'GET', scene.pods('', '', MUSTER_NAMESPACE));
      expect(seen.status).toBe(200);
      return Promise.all([
        scene.send(scene.tenant, 'GET', SECRET),
        scene.send(scene.tenant, 'GET', SECRETS),
        scene.send(scene.tenant, 'GET', SECRETS, undefined, { query: { watch: true, timeoutSeconds: 1 } }),
        scene.send(scene.tenant, 'PATCH', SECRET, { data: { 'ca.key': 'eA==' } }),
        scene.send(scene.tenant, 'DELETE', SECRET),
        ...CONFIGURATIONS.map((path) => scene.send(scene.tenant, 'PATCH', path, bundle(''))),
      ]);
    },
  },
];

const kindOf = (path: string): string =>
  path.includes('/mutating') ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
