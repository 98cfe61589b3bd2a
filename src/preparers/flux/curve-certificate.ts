/** A key pair of X25519, 32 bytes each. */
export interface CurveKeys {
  readonly publicKey: Uint8Array;
  readonly secretKey: Uint8Array;
}

/**
 * The certificate that all brokers of a gang share, in Flux's file format: ZeroMQ's configuration language, where values
 * cannot contain `_`, `,` or a quote, and entries are indented.
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

/** Characters of Z85, ZeroMQ's text encoding (RFC 32): 4 bytes become 5 characters, most significant first. */
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

/** @throws RangeError when the length is no multiple of 4, which Z85 cannot encode */
export function toZ85(bytes: Uint8Array): string {
  if (bytes.length % 4 !== 0) throw new RangeError(`${bytes.length} bytes: a multiple of 4 is needed`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let rest = view.getUint32(at);
    let five = '';
    for (let digit = 0; digit < 5; digit += 1) {
      five = `${ALPHABET[rest % 85] ?? ''}${five}`;
      rest = Math.floor(rest / 85);
    }
    text += five;
  }
  return text;
}
