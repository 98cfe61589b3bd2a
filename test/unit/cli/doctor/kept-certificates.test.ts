/** `server.certificates.mode: inCluster`: what Muster keeps, as the doctor finds it. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { checkCertificate } from '../../../../src/cli/doctor/check-certificate.ts';
import { registeredWebhooks } from '../../../../src/cli/doctor/check-webhooks.ts';
import { ABSENT, found, unread, type Read } from '../../../../src/cli/doctor/diagnosis.ts';
import { checkKept, readKept, type KeptCertificates } from '../../../../src/cli/doctor/kept-certificates.ts';
import { readServedCertificate } from '../../../../src/cli/doctor/read-certificate.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { SECRET_KEYS } from '../../../../src/tls/in-cluster/read-stored.ts';
import { issueAuthority, issueServingCertificate, type Issued } from '../../../../src/tls/issue.ts';
import type { JsonObject } from '../../../../src/json/json.ts';
import { told, wrong } from './told.ts';

const NOW = new Date('2026-01-02T00:00:00Z');
const DAY = 24 * 60 * 60 * 1000;
const NAME = 'muster.muster-system.svc';
const SECRET = 'Secret muster-system/muster-certificates';
type Settings = Parameters<typeof readKept>[2];
const SETTINGS: Settings = {
  mode: 'inCluster',
  secretName: 'muster-certificates',
  ...{ leaf: { duration: '2160h' }, ca: { duration: '8760h', settle: '1m' } },
};
const LOG =
  'Muster makes and renews it itself: `kubectl -n muster-system logs deployment/muster` says why it did not ("certificates in the cluster cannot be kept")';

let ca: Issued;
let earlier: Issued;
let foreign: Issued;
let leaf: Issued;
beforeAll(async () => {
  const authority = (commonName: string) => issueAuthority({ commonName, days: 365, now: NOW });
  [ca, earlier, foreign] = [
    await authority('Muster CA 2026-01-02T00:00:00Z'),
    await authority('Muster CA 2025-05-02T00:00:00Z'),
    await authority('other'),
  ];
  leaf = await issueServingCertificate({ authority: ca, dnsNames: [NAME], days: 90, now: NOW });
}, 60_000);

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const full = (): Record<string, string> => ({
  [SECRET_KEYS.current.certificate]: base64(ca.certificate),
  [SECRET_KEYS.current.key]: base64(ca.key),
  [SECRET_KEYS.leaf.certificate]: base64(leaf.certificate),
  [SECRET_KEYS.leaf.key]: base64(leaf.key),
});
const configurations = (trusted = ca.certificate, annotations: JsonObject = {}) => {
  const of = (annotated: JsonObject): Read<readonly JsonObject[]> =>
    found([
      {
        metadata: { name: 'muster', annotations: annotated },
        webhooks: ['pods.muster.dev', 'podgangs.muster.dev'].map((name) => ({
          name,
          clientConfig: {
            service: { name: 'muster', namespace: 'muster-system' },
            caBundle: base64(trusted),
          },
        })),
      },
    ]);
  return { MutatingWebhookConfiguration: of(annotations), ValidatingWebhookConfiguration: of({}) };
};
const notFound = new ApiError('get', { status: 404, reason: 'NotFound', message: 'not found' });
const clientWith = (data: JsonObject | undefined): KubeClient =>
  ({
    get: () => (data === undefined ? Promise.reject(notFound) : Promise.resolve({ data })),
    list: () => Promise.resolve({ items: [] }),
  }) as unknown as KubeClient;
const keptWith = async (
  data: JsonObject | undefined,
  settings: Partial<Settings> = {},
): Promise<KeptCertificates> => {
  const client = clientWith(data);
  return (await readKept(
    client,
    undefined,
    { ...SETTINGS, ...settings },
    'muster-system',
  )) as KeptCertificates;
};

/** What is said of an installation, from a machine that reaches no Pod; `served`: one that reaches them. */
async function examined(
  data: JsonObject | undefined,
  given: {
    readonly webhooks?: ReturnType<typeof configurations>;
    readonly days?: number;
    readonly served?: string;
    readonly settings?: Partial<Settings> | undefined;
  } = {},
) {
  const webhooks = given.webhooks ?? configurations();
  const kept = await keptWith(data, given.settings);
  const now = new Date(NOW.getTime() + (given.days ?? 0) * DAY);
  const registered = registeredWebhooks(webhooks);
  const certificate =
    given.served === undefined
      ? await readServedCertificate(clientWith(data), registered, {
          ...{ namespace: 'muster-system', name: kept.secretName, kept: true },
        })
      : found({ chain: given.served, from: 'the certificate of 10.0.0.1:9443' });
  const served = certificate.state === 'found' ? certificate.value.chain : undefined;
  return [
    ...checkCertificate(certificate, registered, {
      ...{ now, namespace: 'muster-system', authority: kept.authority, kept },
    }),
    ...checkKept(kept, webhooks, { now, served }),
  ];
}

describe('nothing is wrong with', () => {
  test('what Muster made, seen in the Secret or at a replica', async () => {
    const expected = (from: string) => [
      expect.stringMatching(new RegExp(`^ok certificate/dates: ${from} is valid until 2026-04-0\\d$`)),
      `ok certificate/names: it is for ${NAME}, which the API server calls`,
      'ok certificate/ca: the caBundles of 4 webhooks lead to it',
      expect.stringMatching(/^ok certificate\/dates: ca\.crt of the Secret .* is valid until 2027-01-0\d$/),
    ];
    expect(told(await examined(full()))).toEqual(expected(`tls.crt of the ${SECRET}`));
    expect(told(await examined(full(), { served: leaf.certificate }))).toEqual(
      expected('the certificate of 10.0.0.1:9443'),
    );
  });

  test('an empty Secret, which the first replica fills', async () => {
    expect(wrong(await examined({}, { webhooks: configurations() }))).toEqual([
      'not-checked certificate/serving: the Secret muster-system/muster-certificates has no tls.crt yet → run it as somebody who may read the Secret, or in the network of the Pods',
    ]);
    expect(told(await examined({}, { served: leaf.certificate })).at(-1)).toBe(
      `ok certificate/secret: ${SECRET} is empty: the first replica that runs fills it`,
    );
  });

  test('an earlier CA of Muster’s, which stays until it has expired; a foreign one is told', async () => {
    const beside = (other: Issued) =>
      examined(full(), { webhooks: configurations(`${ca.certificate}${other.certificate}`) });
    expect(wrong(await beside(earlier))).toEqual([]);
    expect(wrong(await beside(foreign))[0]).toContain('also trusts CN=other, which the certificate');
  });

  test('a renewal that is due later than usual', async () => {
    const settings = { leaf: { duration: '2160h', renewBefore: '48h' } };
    expect(wrong(await examined(full(), { days: 80, settings }))).toEqual([]);
    expect(wrong(await examined(full(), { days: 80 }))).toHaveLength(1);
  });
});

describe('named with what mends it:', () => {
  test('no Secret', async () => {
    const [finding, ...others] = (await examined(undefined)).filter(({ severity }) => severity !== 'ok');
    expect(others).toEqual([]);
    expect(told(finding === undefined ? [] : [finding])).toEqual([
      `problem certificate/secret: there is no ${SECRET}, in which Muster keeps its certificates: a replica that starts now gets none → apply manifests/components/in-cluster-certificates, in which it is empty: Muster fills it`,
    ]);
    expect(finding?.commands).toEqual([
      "kubectl apply -f - <<'EOF'\napiVersion: v1\nkind: Secret\nmetadata:\n  name: muster-certificates\n  namespace: muster-system\n  labels:\n    app.kubernetes.io/name: muster\n    app.kubernetes.io/part-of: muster\ntype: Opaque\nEOF",
    ]);
  });

  test('damaged data', async () => {
    const served = leaf.certificate;
    const data = {
      ...full(),
      [SECRET_KEYS.leaf.key]: base64(ca.key),
      [SECRET_KEYS.current.key]: base64('x'),
    };
    expect(wrong(await examined(data, { served }))).toEqual([
      `problem certificate/secret: ${SECRET}: ca.crt or ca.key is not PEM → ${LOG}`,
      `problem certificate/secret: ${SECRET}: tls.key is not the key of tls.crt → ${LOG}`,
    ]);
  });

  test('a leaf that no caBundle covers', async () => {
    const webhooks = configurations(foreign.certificate);
    expect(wrong(await examined(full(), { webhooks }))[0]).toMatch(
      /^problem certificate\/ca: the caBundle of pods\.muster\.dev in MutatingWebhookConfiguration muster does not lead to the certificate that Muster shows \(.*\) → Muster makes and renews it itself: /,
    );
    const other = await issueServingCertificate({ authority: foreign, dnsNames: [NAME], days: 90, now: NOW });
    const covered = ['Mutating', 'Validating'].flatMap((kind) =>
      ['pods', 'podgangs'].map((name) => `${name}.muster.dev in ${kind}WebhookConfiguration muster`),
    );
    expect(wrong(await examined(full(), { webhooks, served: other.certificate }))).toEqual([
      `problem certificate/ca: no valid CA of tls.crt of the ${SECRET} is in the caBundle of ${covered.join(', ')} → ${LOG}`,
    ]);
  });

  test.each([
    [100, [/^problem certificate\/dates: tls\.crt of the Secret .* expired on 2026-04-0\d → Muster makes /]],
    [
      400,
      [
        /^problem certificate\/dates: tls\.crt of the Secret .* expired on 2026-04-0\d → Muster makes /,
        /^problem certificate\/ca: the caBundle of .* does not lead to /,
        /^problem certificate\/dates: ca\.crt of the Secret .* expired on 2027-01-0\d → Muster makes /,
      ],
    ],
  ])('what has expired, after %d days', async (days, expected) => {
    const all = wrong(await examined(full(), { days }));
    for (const text of expected) expect(all).toContainEqual(expect.stringMatching(text));
  });

  test('cert-manager’s annotation', async () => {
    const webhooks = configurations(ca.certificate, { 'cert-manager.io/inject-ca-from': 'x/y' });
    const [finding, ...others] = (await examined(full(), { webhooks })).filter(
      ({ severity }) => severity !== 'ok',
    );
    expect(others).toEqual([]);
    expect(told(finding === undefined ? [] : [finding])).toEqual([
      'problem certificate/ca: MutatingWebhookConfiguration muster has the annotation cert-manager.io/inject-ca-from, by which cert-manager writes its caBundles: Muster leaves them alone → take it off, or set server.certificates.mode to files',
    ]);
    expect(finding?.commands).toEqual([
      `kubectl patch mutatingwebhookconfiguration.admissionregistration.k8s.io muster --type=json -p '[{"op":"remove","path":"/metadata/annotations/cert-manager.io~1inject-ca-from"}]'`,
    ]);
  });

  test('a Secret that may not be read', async () => {
    const kept = { ...(await keptWith({})), secret: unread('may not get secrets') };
    expect(told(checkKept(kept, configurations(), { now: NOW, served: undefined }))).toEqual([
      'not-checked certificate/secret: may not get secrets → run it as somebody who may read this, such as cluster-admin',
    ]);
  });
});

test('the Deployment’s environment says the mode where the configuration is not known', async () => {
  const deployment = (value: string): JsonObject => ({
    spec: {
      template: { spec: { containers: [{ env: [{ name: 'MUSTER_SERVER_CERTIFICATES_MODE', value }] }] } },
    },
  });
  const by = async (value: string, mode: 'files' | 'inCluster') =>
    (await readKept(clientWith(undefined), deployment(value), { ...SETTINGS, mode }, 'x'))?.secret;
  expect([await by('inCluster', 'files'), await by('files', 'inCluster')]).toEqual([ABSENT, undefined]);
});
