import { beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { checkCertificate } from '../../../../src/cli/doctor/check-certificate.ts';
import { ABSENT, found, unread, type Diagnosis } from '../../../../src/cli/doctor/diagnosis.ts';
import type { RegisteredWebhook } from '../../../../src/cli/doctor/check-webhooks.ts';
import { EXPECTED_WEBHOOKS } from '../../../../src/cli/doctor/expected-webhooks.ts';
import { issueDevelopmentCertificates } from '../../../../src/tls/issue.ts';
import { told } from './told.ts';

const NOW = new Date('2026-01-02T00:00:00Z');
const DAY = 24 * 60 * 60 * 1000;
const CLIENT = { service: { name: 'muster', namespace: 'muster-system', path: '/' } };
const FROM = 'tls.crt of the Secret muster-system/muster-serving-cert';
const PROVIDE =
  'look at `kubectl -n muster-system get certificate,secret`, or make one as in docs/manifests.md, Certificates';
const INJECT =
  'put the CA of the serving certificate into caBundle: docs/manifests.md, Certificates (with cert-manager: look at its cainjector)';

let ours: { caCertificate: string; certificate: string };
let other: { caCertificate: string; certificate: string };
beforeAll(async () => {
  const issue = (name: string) => issueDevelopmentCertificates({ dnsNames: [name], days: 90, now: NOW });
  [ours, other] = [await issue('muster.muster-system.svc'), await issue('elsewhere.svc')];
}, 60_000);

const webhook = (clientConfig: JsonObject): RegisteredWebhook => ({
  expected: EXPECTED_WEBHOOKS[0] as RegisteredWebhook['expected'],
  configuration: 'muster',
  index: 0,
  webhook: { clientConfig },
});
const trusting = (ca: string | undefined, client: JsonObject = CLIENT): RegisteredWebhook =>
  webhook({ ...client, ...(ca === undefined ? {} : { caBundle: Buffer.from(ca).toString('base64') }) });
const check = (chain: string, webhooks: readonly RegisteredWebhook[], days = 0): string[] =>
  told(
    checkCertificate(found({ chain, from: FROM }), webhooks, {
      now: new Date(NOW.getTime() + days * DAY),
      namespace: 'muster-system',
    }),
  );

describe('a certificate', () => {
  test('that fits', () => {
    const lines = check(ours.certificate, [trusting(ours.caCertificate)]);
    expect(lines).toEqual([
      expect.stringMatching(/^ok certificate\/dates: tls\.crt of .* is valid until 2026-04-0\d$/),
      'ok certificate/names: it is for muster.muster-system.svc, which the API server calls',
      'ok certificate/ca: the caBundles of 1 webhooks lead to it',
    ]);
  });

  test('of another CA', () => {
    expect(check(ours.certificate, [trusting(other.caCertificate)])[2]).toMatch(
      /^problem certificate\/ca: the caBundle of pods\.muster\.dev in MutatingWebhookConfiguration muster does not lead to the certificate that Muster shows \(issued by .+, until 2026-04-0\d\) → put the CA /,
    );
  });

  test('that nobody is told to trust', () => {
    expect(check(ours.certificate, [trusting(undefined)])[2]).toBe(
      `problem certificate/ca: pods.muster.dev in MutatingWebhookConfiguration muster has no caBundle: the API server will not trust Muster → ${INJECT}`,
    );
  });

  test('for another name', () => {
    expect(check(other.certificate, [trusting(other.caCertificate)])[1]).toBe(
      `problem certificate/names: the API server calls muster.muster-system.svc, and ${FROM} is for DNS:elsewhere.svc → issue it with muster.muster-system.svc among its DNS names (${PROVIDE})`,
    );
  });

  test('for the host of a URL', () => {
    const url = trusting(ours.caCertificate, { url: 'https://muster.muster-system.svc:9443/x' });
    expect(check(ours.certificate, [url])[1]).toContain('ok certificate/names');
    const [, ipv6] = check(ours.certificate, [trusting(ours.caCertificate, { url: 'https://[::1]/x' })]);
    expect(ipv6).toContain('problem certificate/names: the API server calls ::1,');
  });

  test.each([
    [80, 'warning', `and has not been renewed → ${PROVIDE}`],
    [100, 'problem', `expired on 2026-04-`],
    [-10, 'problem', 'is not valid before 2026-01-0'],
  ])('%d days later', (days, severity, text) => {
    const [dates] = check(ours.certificate, [trusting(ours.caCertificate)], days);
    expect(dates?.startsWith(`${severity} certificate/dates: `)).toBe(true);
    expect(dates).toContain(text);
  });

  test('that is none', () => {
    expect(check('nonsense', [])).toEqual([
      `problem certificate/serving: ${FROM} is no PEM certificate → ${PROVIDE}`,
    ]);
  });
});

test('no certificate, and none that can be seen', () => {
  const given = { now: NOW, namespace: 'muster-system' };
  expect(told(checkCertificate(ABSENT, [], given))).toEqual([
    `problem certificate/serving: the Secret with the serving certificate is not there in muster-system, and no replica shows one → ${PROVIDE}`,
  ]);
  expect(told(checkCertificate(unread('10.0.0.1:9443: no answer in time'), [], given))).toEqual([
    'not-checked certificate/serving: 10.0.0.1:9443: no answer in time → run it as somebody who may read the Secret, or in the network of the Pods',
  ]);
});

test('a foreign CA beside the right one, and the commands that take it out', () => {
  const both = trusting(`${ours.caCertificate}${other.caCertificate}`);
  const judged = (authority?: string) =>
    checkCertificate(found({ chain: ours.certificate, from: FROM }), [both, trusting(other.caCertificate)], {
      ...{ now: NOW, namespace: 'muster-system', authority },
    }).filter(({ check: name }) => name === 'ca');
  const [foreign, wrong] = judged(ours.caCertificate);
  expect(wrongOf(foreign)).toMatch(
    /^warning certificate\/ca: the caBundle of pods\.muster\.dev in MutatingWebhookConfiguration muster also trusts CN=.*, which the certificate does not come from: whoever has that key can answer for Muster → nothing while the CA is being replaced; else take it out of caBundle$/,
  );
  const bundle = Buffer.from(ours.caCertificate).toString('base64');
  const command = `kubectl patch mutatingwebhookconfiguration.admissionregistration.k8s.io muster --type=json -p '[{"op":"test","path":"/webhooks/0/name","value":"pods.muster.dev"},{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"${bundle}"}]'`;
  expect([foreign?.commands, wrong?.commands]).toEqual([[command], [command]]);
  // Nothing is told to be trusted that the certificate does not come from.
  expect(judged(other.caCertificate).map(({ commands }) => commands)).toEqual([undefined, undefined]);
  expect(judged().map(({ commands }) => commands)).toEqual([undefined, undefined]);
});

const wrongOf = (finding: Diagnosis | undefined): string =>
  told(finding === undefined ? [] : [finding]).join();
