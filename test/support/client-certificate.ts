import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Issued } from '../../src/tls/issue.ts';
import { altNameOf, signedCertificate } from '../../src/tls/x509.ts';

const DAY_MS = 86_400_000;

/** Who a certificate is for, who signs it, and until when it is valid. */
interface Order {
  readonly authority?: Issued;
  readonly commonName: string;
  readonly now: Date;
  readonly days: number;
}

/**
 * A certificate with which an API server names itself to a webhook; Muster issues none of these. Its key is RSA, as that
 * of most API servers.
 */
export const issueClientCertificate = (order: Order): Promise<Issued> =>
  issueWithRsaKey(order, [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', clientAuth: true },
  ]);

/** A CA as version 0.1 of Muster made them, and as others do. */
export const issueRsaAuthority = (order: Order): Promise<Issued> =>
  issueWithRsaKey(order, [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
  ]);

/** A server's certificate as others issue it. */
export const issueRsaServing = (order: Order): Promise<Issued> =>
  issueWithRsaKey(order, [
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: [altNameOf(order.commonName)] },
  ]);

async function issueWithRsaKey(
  { authority, commonName, now, days }: Order,
  extensions: readonly object[],
): Promise<Issued> {
  const keys = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const certificate = signedCertificate({
    commonName,
    notBefore: new Date(now.getTime() - 5 * 60_000),
    notAfter: new Date(now.getTime() + days * DAY_MS),
    extensions,
    publicKey: keys.publicKey,
    signedWith: authority?.key ?? keys.privateKey,
    issuer: authority?.certificate,
  });
  return { certificate, key: keys.privateKey };
}
