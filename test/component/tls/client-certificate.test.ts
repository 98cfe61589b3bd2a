import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueAuthority, issueServingCertificate } from '../../../src/tls/issue.ts';
import { issueClientCertificate } from '../../support/client-certificate.ts';
import type { Issued } from '../../../src/tls/issue.ts';
import { loadServingPair, type ServingPair } from '../../../src/tls/reload.ts';
import { applyPair } from '../../../src/tls/options.ts';
import type { TlsChoices } from '../../../src/tls/options.ts';
import { plainDirectory, secretData } from '../../unit/tls/mounted-secret.ts';
import { SERVER_NAME, oneShot, post, serve } from './serving.ts';
import type { Answer, Serving } from './serving.ts';

const now = new Date();
const WEEK_AGO = new Date(now.getTime() - 7 * 24 * 60 * 60 * 1000);
const validity = { now, days: 1 };

let authority: Issued;
let clients: Record<'apiServer' | 'kubelet' | 'foreign' | 'expired' | 'serverOnly', Issued>;
let pairs: ServingPair[];
let choices: TlsChoices;
let serving: Serving;

beforeAll(async () => {
  const [front, other] = await Promise.all(
    ['front', 'front'].map((commonName) => issueAuthority({ commonName, ...validity, days: 30 })),
  );
  if (front === undefined || other === undefined) throw new Error('no authority');
  authority = await issueAuthority({ commonName: 'serving', ...validity });
  const client = (issuer: Issued, commonName: string, from = now): Promise<Issued> =>
    issueClientCertificate({ authority: issuer, commonName, now: from, days: 1 });
  const [apiServer, kubelet, foreign, expired, serverOnly] = await Promise.all([
    client(front, 'kube-apiserver'),
    client(front, 'kubelet'),
    client(other, 'kube-apiserver'),
    client(front, 'kube-apiserver', WEEK_AGO),
    issueServingCertificate({ authority: front, dnsNames: ['kube-apiserver'], ...validity }),
  ]);
  clients = { apiServer, kubelet, foreign, expired, serverOnly };
  pairs = await Promise.all(
    [1, 2].map(async () => {
      const leaf = await issueServingCertificate({ authority, dnsNames: [SERVER_NAME], ...validity });
      return loadServingPair(await plainDirectory(secretData(leaf, authority)), { now });
    }),
  );
  choices = { minVersion: 'TLSv1.3', clientCa: front.certificate };
  serving = await serve(pairs[0] as ServingPair, choices);
});
afterAll(() => serving.close());

const call = (client?: Issued): Promise<Answer> =>
  post(serving.port, {
    agent: oneShot(),
    ca: authority.certificate,
    ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
  });

/** OpenSSL sends an alert when there is no certificate; one that does not verify makes Node drop the connection. */
const refusals: [string, () => Issued | undefined, string][] = [
  ['no certificate', () => undefined, 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'],
  ['a certificate of another CA with the same name', () => clients.foreign, 'ECONNRESET'],
  ['an expired certificate', () => clients.expired, 'ECONNRESET'],
  ['a certificate for servers', () => clients.serverOnly, 'ECONNRESET'],
];

const expectations = (): void => {
  test('the API server is let in', async () => {
    expect(await call(clients.apiServer)).toMatchObject({ status: 200, body: 'ok' });
  });
  test('a client with another name is told why not', async () => {
    expect(await call(clients.kubelet)).toMatchObject({
      status: 403,
      body: 'the client certificate is for "kubelet"; allowed: "kube-apiserver"',
    });
  });
  test.each(refusals)('%s ends the connection before any request', async (_, client, code) => {
    const before = serving.requests();
    await expect(call(client())).rejects.toMatchObject({ code });
    expect(serving.requests()).toBe(before);
  });
};

describe('client certificates (V21)', () => {
  expectations();

  describe('after a swap', () => {
    beforeAll(async () => {
      const next = pairs[1] as ServingPair;
      applyPair(serving.server, next, choices);
      expect((await call(clients.apiServer)).fingerprint).toBe(next.fingerprint256);
    });
    expectations();
  });
});
