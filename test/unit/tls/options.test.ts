import { describe, expect, test } from '@jest/globals';
import type { ServingPair } from '../../../src/tls/reload.ts';
import { checkClientName, tlsServerOptions } from '../../../src/tls/options.ts';

const pair: ServingPair = {
  certificate: Buffer.from('certificate'),
  key: Buffer.from('key'),
  notBefore: new Date(0),
  notAfter: new Date(1),
  dnsNames: [],
  fingerprint256: '',
  serial: '',
};

test.each(['', '\n', 'hello'])(
  'a client CA of %j is refused: OpenSSL would trust others instead',
  (clientCa) => {
    const build = () => tlsServerOptions({ pair, minVersion: 'TLSv1.3', clientCa });
    expect(build).toThrow(/^the client CA is not a PEM certificate: ./);
    expect(build).toThrow(
      expect.objectContaining({
        code: 'TLS_UNREADABLE',
        fix: 'give the CA that issues the client certificate of the API server, in PEM',
      }),
    );
  },
);

test('no client certificate is asked for unless there is a client CA', () => {
  expect(tlsServerOptions({ pair, minVersion: 'TLSv1.3' })).not.toHaveProperty('requestCert');
});

describe('the name of the client', () => {
  const client = (CN: unknown, authorized = true) =>
    ({
      authorized,
      authorizationError: new Error('CERT_HAS_EXPIRED'),
      getPeerCertificate: () => (CN === undefined ? {} : { subject: { CN } }),
    }) as unknown as Parameters<typeof checkClientName>[0];

  test.each([
    ['the API server, by default', client('kube-apiserver'), undefined, undefined],
    ['one of several', client('b'), ['a', 'b'], undefined],
    [
      'another',
      client('kubelet'),
      undefined,
      'the client certificate is for "kubelet"; allowed: "kube-apiserver"',
    ],
    ['a case that differs', client('B'), ['a', 'b'], 'the client certificate is for "B"; allowed: "a", "b"'],
    ['any, when nobody is allowed', client('a'), [], 'the client certificate is for "a"; allowed: nobody'],
    [
      'several names, one of them allowed',
      client(['kube-apiserver', 'x']),
      undefined,
      'the client certificate does not have exactly one common name',
    ],
    ['none', client(undefined), undefined, 'the client certificate does not have exactly one common name'],
    [
      'an unverified one',
      client('kube-apiserver', false),
      undefined,
      'the client certificate was not verified: CERT_HAS_EXPIRED',
    ],
  ])('%s', (_, socket, allowed, refusal) => {
    expect(checkClientName(socket, allowed)).toBe(refusal);
  });
});
