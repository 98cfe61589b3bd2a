import { generateKeyPairSync } from 'node:crypto';
import { curveCertificate } from '../curve-certificate.ts';

/**
 * A certificate with random keys, different at every call. It is made once for a gang and never replaced, since brokers with
 * an older one would lose their connections, and it is written only into the gang's Secret.
 */
export function makeCurveCertificate(name: string): string {
  const { x = '', d = '' } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return curveCertificate(name, {
    publicKey: Buffer.from(x, 'base64url'),
    secretKey: Buffer.from(d, 'base64url'),
  });
}
