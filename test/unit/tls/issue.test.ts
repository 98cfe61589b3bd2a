import { X509Certificate, createHash, createPrivateKey } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  issueAuthority,
  issueDevelopmentCertificates,
  issueServingCertificate,
} from '../../../src/tls/issue.ts';
import { issueRsaAuthority } from '../../support/client-certificate.ts';

const now = new Date('2026-06-01T12:00:00Z');
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

describe('development certificates', () => {
  const made = issueDevelopmentCertificates({
    dnsNames: ['muster.muster-system.svc', 'localhost', '127.0.0.1', '::1'],
    days: 30,
    now,
  });

  test('the serving certificate belongs to its key and to its CA', async () => {
    const { caCertificate, certificate, key } = await made;
    const ca = new X509Certificate(caCertificate);
    const leaf = new X509Certificate(certificate);
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(leaf.verify(ca.publicKey)).toBe(true);
    expect(leaf.checkIssued(ca)).toBe(true);
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect([ca.ca, leaf.ca]).toEqual([true, false]);
    expect(leaf.keyUsage).toEqual([SERVER_AUTH]);
  });

  test('addresses are entered as addresses, names as names', async () => {
    const leaf = new X509Certificate((await made).certificate);
    expect(leaf.subjectAltName).toBe(
      'DNS:muster.muster-system.svc, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    );
    expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(leaf.checkHost('127.0.0.1')).toBeUndefined();
  });

  test('both are valid from five minutes before, for the days asked for', async () => {
    const { caCertificate, certificate } = await made;
    for (const pem of [caCertificate, certificate]) {
      const { validFromDate, validToDate } = new X509Certificate(pem);
      expect(validFromDate.toISOString()).toBe('2026-06-01T11:55:00.000Z');
      expect(validToDate.toISOString()).toBe('2026-07-01T12:00:00.000Z');
    }
  });

  test('dates beyond 2049, where the encoding of years changes', async () => {
    const { validToDate } = new X509Certificate(
      (await issueAuthority({ commonName: 'far', days: 36_500, now })).certificate,
    );
    expect(validToDate.toISOString()).toBe('2126-05-08T12:00:00.000Z');
  });
});

test('keys are ECDSA P-256, and the certificate is signed as its issuer’s key can', async () => {
  const kept = await issueRsaAuthority({ commonName: 'made by version 0.1', days: 30, now });
  const own = await issueAuthority({ commonName: 'made now', days: 30, now });
  for (const [authority, signature] of [
    [kept, 'sha256WithRSAEncryption'],
    [own, 'ecdsa-with-SHA256'],
  ] as const) {
    const issued = await issueServingCertificate({ authority, dnsNames: ['a'], days: 1, now });
    const leaf = new X509Certificate(issued.certificate);
    const ca = new X509Certificate(authority.certificate);
    expect(leaf.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(leaf.signatureAlgorithm).toBe(signature);
    // Who looks for the issuer compares names octet by octet, and key identifiers.
    expect([leaf.checkIssued(ca), leaf.verify(ca.publicKey)]).toEqual([true, true]);
  }
});

test('a key identifier is the SHA-1 of the public key’s bits, as of the CAs that version 0.1 made', async () => {
  for (const make of [issueRsaAuthority, issueAuthority]) {
    const { certificate } = await make({ commonName: 'ca', days: 1, now });
    const { publicKey, raw } = new X509Certificate(certificate);
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    // The bits are the last part: 65 octets of a point on P-256, or the RSAPublicKey.
    const bits =
      publicKey.asymmetricKeyType === 'ec'
        ? spki.subarray(-65)
        : publicKey.export({ type: 'pkcs1', format: 'der' });
    const identifier = createHash('sha1').update(bits).digest();
    expect(raw.indexOf(Buffer.concat([Buffer.from([4, 20]), identifier]))).toBeGreaterThan(0);
  }
});

test('serial numbers are positive, of 128 bits, and each time others', async () => {
  const pair = await issueDevelopmentCertificates({ dnsNames: ['a'], days: 1, now });
  const serials = [pair.caCertificate, pair.certificate].map((pem) => new X509Certificate(pem).serialNumber);
  for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
  expect(new Set(serials).size).toBe(2);
});

test('a name too long for a common name still becomes a subject alternative name', async () => {
  const long = `${'service-'.repeat(7)}x.a-namespace-with-a-long-name.svc`;
  const { certificate } = await issueServingCertificate({ dnsNames: [long], days: 1, now });
  const parsed = new X509Certificate(certificate);
  expect(parsed.subject).toBe('CN=muster');
  expect(parsed.checkHost(long, { subject: 'never' })).toBe(long);
});
