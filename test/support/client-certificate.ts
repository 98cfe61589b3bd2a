import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import forge from 'node-forge';
import type { Issued } from '../../src/tls/issue.ts';

const DAY_MS = 86_400_000;

/** A certificate with which an API server names itself to a webhook; Muster issues none of these. */
export async function issueClientCertificate(order: {
  readonly authority: Issued;
  readonly commonName: string;
  readonly now: Date;
  readonly days: number;
}): Promise<Issued> {
  const { authority, commonName, now, days } = order;
  const keys = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(keys.publicKey);
  certificate.serialNumber = `4${randomBytes(15).toString('hex')}0`;
  certificate.validity.notBefore = new Date(now.getTime() - 5 * 60_000);
  certificate.validity.notAfter = new Date(now.getTime() + days * DAY_MS);
  certificate.setSubject([{ name: 'commonName', value: commonName }]);
  certificate.setIssuer(forge.pki.certificateFromPem(authority.certificate).subject.attributes);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', clientAuth: true },
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(authority.key), forge.md.sha256.create());
  return {
    certificate: forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n'),
    key: keys.privateKey,
  };
}
