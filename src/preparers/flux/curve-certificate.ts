import { toZ85 } from './z85.ts';

/** A key pair of X25519, 32 bytes each. */
export interface CurveKeys {
  readonly publicKey: Uint8Array;
  readonly secretKey: Uint8Array;
}

/**
 * The certificate that all brokers of a gang share, as Flux reads it: the configuration language of ZeroMQ, in which a
 * value cannot have `_`, `,` or a quote, and entries are indented.
 */
export const curveCertificate = (name: string, { publicKey, secretKey }: CurveKeys): string =>
  [
    '# CURVE certificate of the Flux brokers of one gang.',
    '# Whoever has it can join them: keep it secret.',
    '',
    'metadata',
    `    name = "${name}"`,
    'curve',
    `    public-key = "${toZ85(publicKey)}"`,
    `    secret-key = "${toZ85(secretKey)}"`,
    '',
  ].join('\n');
