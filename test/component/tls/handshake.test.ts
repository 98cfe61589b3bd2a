import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ConnectionOptions } from 'node:tls';
import { connect } from 'node:tls';
import { issueServingCertificate } from '../../../src/tls/issue.ts';
import { loadServingPair, type ServingPair } from '../../../src/tls/reload.ts';
import { applyPair } from '../../../src/tls/options.ts';
import { issueRsaServing } from '../../support/client-certificate.ts';
import { plainDirectory, secretData } from '../../unit/tls/mounted-secret.ts';
import { SERVER_NAME, handshake, oneShot, post, serve } from './serving.ts';
import type { Serving } from './serving.ts';

const now = new Date();
/** A client old enough to offer anything. */
const anything: ConnectionOptions = { minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' };
const ALERT_VERSION = 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION';
const ALERT_HANDSHAKE = 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE';

let pair: ServingPair;
let next: ServingPair;
let strict: Serving;
let lenient: Serving;
let lenientRsa: Serving;

beforeAll(async () => {
  const issued = await Promise.all([
    ...[1, 2].map((days) => issueServingCertificate({ dnsNames: [SERVER_NAME], now, days })),
    issueRsaServing({ commonName: SERVER_NAME, now, days: 1 }),
  ]);
  const pairs = issued.map(async (one) =>
    loadServingPair(await plainDirectory(secretData(one, one)), { now, serverName: SERVER_NAME }),
  );
  const [first, second, rsa] = (await Promise.all(pairs)) as [ServingPair, ServingPair, ServingPair];
  [pair, next] = [first, second];
  strict = await serve(pair, { minVersion: 'TLSv1.3' });
  lenient = await serve(pair, { minVersion: 'TLSv1.2' });
  lenientRsa = await serve(rsa, { minVersion: 'TLSv1.2' });
});
afterAll(() => Promise.all([strict.close(), lenient.close(), lenientRsa.close()]));

const alive = async ({ port }: Serving): Promise<void> => {
  const { status, body } = await post(port, { agent: oneShot(), ca: pair.certificate });
  expect([status, body]).toEqual([200, 'ok']);
};

describe('ALPN (V16)', () => {
  test('HTTP/2 only is refused with the alert for it', async () => {
    await expect(handshake(strict.port, { ALPNProtocols: ['h2'] })).rejects.toMatchObject({
      code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
    });
    await alive(strict);
  });

  test.each([
    ['HTTP/2 first', ['h2', 'http/1.1'], 'http/1.1'],
    ['HTTP/1.1', ['http/1.1'], 'http/1.1'],
    ['none', [], false],
  ])('%s', async (_, ALPNProtocols, alpn) => {
    await expect(handshake(strict.port, { ALPNProtocols })).resolves.toMatchObject({ alpn });
  });
});

const versions = (serving: () => Serving): void => {
  test.each(['TLSv1', 'TLSv1.1'] as const)('%s is refused', async (maxVersion) => {
    await expect(handshake(serving().port, { ...anything, maxVersion })).rejects.toMatchObject({
      code: ALERT_VERSION,
    });
    await alive(serving());
  });
  test('TLS 1.3 is what a client gets that can', async () => {
    await expect(handshake(serving().port, anything)).resolves.toMatchObject({ protocol: 'TLSv1.3' });
  });
};

describe('versions and ciphers (V17)', () => {
  const tls12: ConnectionOptions = { ...anything, maxVersion: 'TLSv1.2' };

  describe('by default', () => {
    versions(() => strict);
    test('TLS 1.2 is refused', async () => {
      await expect(handshake(strict.port, tls12)).rejects.toMatchObject({ code: ALERT_VERSION });
    });
  });

  describe('with TLS 1.2 by choice', () => {
    versions(() => lenient);
    test('TLS 1.2 gets forward secrecy and authenticated encryption', async () => {
      for (const [serving, suite] of [
        [lenient, /^ECDHE-ECDSA-.*(GCM|POLY1305)/],
        [lenientRsa, /^ECDHE-RSA-.*(GCM|POLY1305)/],
      ] as const) {
        await expect(handshake(serving.port, tls12)).resolves.toMatchObject({
          protocol: 'TLSv1.2',
          cipher: expect.stringMatching(suite),
        });
      }
    });
    test.each([
      ['CBC', 'ECDHE-ECDSA-AES256-SHA384:ECDHE-ECDSA-AES128-SHA'],
      ['CBC with an RSA certificate', 'ECDHE-RSA-AES256-SHA384:ECDHE-RSA-AES128-SHA'],
      ['RSA key exchange', 'AES128-GCM-SHA256:AES256-GCM-SHA384'],
      ['finite-field Diffie-Hellman', 'DHE-RSA-AES128-GCM-SHA256'],
    ])('%s is refused', async (_, ciphers) => {
      for (const serving of [lenient, lenientRsa]) {
        await expect(
          handshake(serving.port, { ...tls12, ciphers: `${ciphers}:@SECLEVEL=0` }),
        ).rejects.toMatchObject({ code: ALERT_HANDSHAKE });
      }
      await alive(lenient);
    });
    test.each([
      ['ECDSA', () => lenient],
      ['RSA', () => lenientRsa],
    ] as const)('AES-128-GCM and ChaCha20 work with %s', async (kind, serving) => {
      for (const ciphers of [`ECDHE-${kind}-AES128-GCM-SHA256`, `ECDHE-${kind}-CHACHA20-POLY1305`]) {
        await expect(handshake(serving().port, { ...tls12, ciphers })).resolves.toMatchObject({
          cipher: ciphers,
        });
      }
    });
  });

  test('a swap keeps what was chosen', async () => {
    const servers = [
      await serve(pair, { minVersion: 'TLSv1.3' }),
      await serve(pair, { minVersion: 'TLSv1.2' }),
    ];
    const [hard, soft] = servers as [Serving, Serving];
    applyPair(hard.server, next, { minVersion: 'TLSv1.3' });
    applyPair(soft.server, next, { minVersion: 'TLSv1.2' });
    await expect(handshake(hard.port, anything)).resolves.toMatchObject({ fingerprint: next.fingerprint256 });
    await expect(handshake(hard.port, tls12)).rejects.toMatchObject({ code: ALERT_VERSION });
    await expect(handshake(hard.port, { ALPNProtocols: ['h2'] })).rejects.toHaveProperty('code');
    await expect(handshake(soft.port, tls12)).resolves.toMatchObject({ protocol: 'TLSv1.2' });
    await expect(
      handshake(soft.port, { ...tls12, ciphers: 'ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0' }),
    ).rejects.toMatchObject({ code: ALERT_HANDSHAKE });
    await Promise.all(servers.map(({ close }) => close()));
  });
});

describe('server names (V18)', () => {
  test.each([
    ['none', {}],
    ['the right one', { servername: SERVER_NAME }],
    ['one nobody knows', { servername: 'nobody.example.org' }],
  ])('%s gets the same leaf', async (_, options) => {
    await expect(handshake(strict.port, options)).resolves.toMatchObject({
      fingerprint: pair.fingerprint256,
    });
    await alive(strict);
  });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('no session is resumed in %s', async (maxVersion) => {
  const reused = (session?: Buffer): Promise<{ reused: boolean; session: Buffer | undefined }> =>
    new Promise((resolve, reject) => {
      let kept: Buffer | undefined;
      const socket = connect({
        host: '127.0.0.1',
        port: lenient.port,
        maxVersion,
        rejectUnauthorized: false,
        ...(session === undefined ? {} : { session }),
      });
      socket.on('session', (offered) => (kept = offered));
      socket.on('error', reject);
      socket.on('data', () => {
        resolve({ reused: socket.isSessionReused(), session: kept ?? socket.getSession() });
        socket.destroy();
      });
      socket.write('GET / HTTP/1.1\r\nhost: muster\r\n\r\n');
    });
  const first = await reused();
  const second = await reused(first.session);
  expect([first.reused, second.reused]).toEqual([false, false]);
});

test('a client that connects and says nothing is cut off within seconds (V22)', async () => {
  const { connect: dial } = await import('node:net');
  const started = Date.now();
  await new Promise((resolve) => dial(strict.port, '127.0.0.1').on('error', resolve).on('close', resolve));
  const waited = Date.now() - started;
  expect(waited).toBeGreaterThan(4_000);
  expect(waited).toBeLessThan(10_000);
});
