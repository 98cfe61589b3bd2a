import { generateKeyPairSync } from 'node:crypto';
import { curveCertificate } from '../curve-certificate.ts';

/**
 * A certificate of random keys: another one at every call. It is made once for a gang and never replaced, since brokers
 * that run with an older one would be cut off; and it is never written anywhere but into its Secret.
 */
export function makeCurveCertificate(name: string): string {
  const { x = '', d = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return curveCertificate(name, {
    publicKey: Buffer.from(x, 'base64url'),
    secretKey: Buffer.from(d, 'base64url'),
  });
}
