import { X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { bundleText, readStored, SECRET_KEYS } from '../../../../src/tls/in-cluster/read-stored.ts';
import { issueAuthority, issueServingCertificate, type Issued } from '../../../../src/tls/issue.ts';

const serverName = 'muster.muster-system.svc';
const now = new Date('2026-06-01T12:00:00Z');
const HOUR = 3_600_000;

let old: Issued;
let next: Issued;
let leaf: Issued;
beforeAll(async () => {
  [old, next] = await Promise.all([
    issueAuthority({ commonName: 'old', now, days: 2, backdatedMs: HOUR }),
    issueAuthority({ commonName: 'next', now, days: 4 }),
  ]);
  leaf = await issueServingCertificate({ authority: old, dnsNames: [serverName], now, days: 1 });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secretOf = (slots: Readonly<Partial<Record<keyof typeof SECRET_KEYS, Issued>>>): JsonObject => ({
  data: Object.fromEntries(
    Object.entries(slots).flatMap(([slot, { certificate, key }]) => {
      const names = SECRET_KEYS[slot as keyof typeof SECRET_KEYS];
      return [
        [names.certificate, base64(certificate)],
        [names.key, base64(key)],
      ];
    }),
  ),
});
const configuration = (bundles: readonly string[], annotations: JsonObject = {}): JsonObject => ({
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'muster', annotations },
  webhooks: bundles.map((caBundle, index) => ({ name: `w${index}`, clientConfig: { caBundle } })),
});
const read = (secret: JsonObject | undefined, ...configurations: JsonObject[]) =>
  readStored(secret, configurations, { serverName, served: undefined });
const idOf = ({ certificate }: Issued): string => new X509Certificate(certificate).fingerprint256;

test('a Secret and a configuration become the facts that decisions depend on', () => {
  const { stored, issued, damaged, certificates } = read(
    secretOf({ current: old, next, leaf }),
    configuration([base64(`text\n${old.certificate}${next.certificate}${old.certificate}`), '']),
  );
  expect(damaged).toEqual([]);
  expect(issued.current?.key).toBe(old.key);
  expect(stored.secret?.current).toMatchObject({ id: idOf(old), notBefore: now.getTime() - HOUR });
  expect(stored.secret?.leaf).toMatchObject({
    id: idOf(leaf),
    notAfter: now.getTime() + 24 * HOUR,
    signers: [idOf(old)],
    fits: true,
  });
  expect(stored.configurations).toMatchObject([
    { name: 'MutatingWebhookConfiguration muster', webhooks: [{ name: 'w0' }, { name: 'w1', trusts: [] }] },
  ]);
  const trusts = stored.configurations[0]?.webhooks[0]?.trusts ?? [];
  expect(trusts.map(({ id }) => id)).toEqual([idOf(old), idOf(next)]);
  expect(Buffer.from(bundleText(trusts), 'base64').toString()).toBe(old.certificate + next.certificate);
  expect(certificates?.cas.map(({ fingerprint256 }) => fingerprint256)).toEqual([idOf(old)]);
});

test.each<[string, () => JsonObject, string[]]>([
  ['nothing', () => ({}), []],
  [
    'a key of another certificate',
    () => secretOf({ current: { ...old, key: next.key } }),
    ['ca.key is not the key of ca.crt'],
  ],
  ['text', () => secretOf({ leaf: { ...leaf, certificate: 'x' } }), ['tls.crt or tls.key is not PEM']],
  [
    'a certificate without its key',
    () => secretOf({ next: { ...next, key: '' } }),
    ['next-ca.crt or next-ca.key is not PEM'],
  ],
  ['a leaf in place of a CA', () => secretOf({ current: leaf }), ['ca.crt is no CA']],
  ['a CA in place of a leaf', () => secretOf({ leaf: old }), ['tls.crt is a CA']],
])('a Secret with %s has no certificate, and says so', (_, secret, damaged) => {
  const found = read(secret());
  expect(found.stored.secret).toEqual({ current: undefined, next: undefined, leaf: undefined });
  expect(found.damaged).toEqual(damaged);
});

test('a caBundle that is damaged keeps what can be read', () => {
  const broken = `${next.certificate.replace(/[A-Za-z0-9+/]{40}\n/, '!\n')}${old.certificate}`;
  const { stored } = read(undefined, configuration([base64(broken), 'no base64 of anything']));
  expect(stored.secret).toBeUndefined();
  expect(stored.configurations[0]?.webhooks.map(({ trusts }) => trusts.map(({ id }) => id))).toEqual([
    [idOf(old)],
    [],
  ]);
});

test('a leaf for another name does not fit', () => {
  const { stored } = readStored(secretOf({ leaf }), [], { serverName: '127.0.0.1', served: undefined });
  expect(stored.secret?.leaf).toMatchObject({ fits: false, signers: [] });
});

test('the leaf in service keeps its CAs when they are stored nowhere any more', () => {
  const served = { leaf: new X509Certificate(leaf.certificate), cas: [new X509Certificate(old.certificate)] };
  const found = readStored({}, [configuration([''])], { serverName, served });
  expect(found.served).toMatchObject({
    leaf: { id: idOf(leaf), signers: [idOf(old)] },
    cas: [{ id: idOf(old) }],
  });
});

test('an annotation for cert-manager’s injector is seen', () => {
  const { stored } = read(
    {},
    configuration([''], { 'cert-manager.io/inject-ca-from': 'a/b' }),
    configuration(['']),
  );
  expect(stored.configurations.map(({ injector }) => injector)).toEqual([
    'cert-manager.io/inject-ca-from',
    undefined,
  ]);
});
