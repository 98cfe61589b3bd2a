import { describe, expect, test } from '@jest/globals';
import { sharedTls } from '../../../../src/kube/client/connection.ts';
import { issueAuthority } from '../../../../src/tls/issue.ts';

const server = 'https://sea.test:6443';

describe('all connections of a client have one TLS context', () => {
  test('made of its certificates', async () => {
    const authority = await issueAuthority({ commonName: 'sea', days: 1, now: new Date() });
    const tls = { ca: authority.certificate, servername: 'sea.test' };
    expect(sharedTls({ server, tls })).toEqual({ ...tls, secureContext: expect.anything() });
  });

  test('but for unusable ones, which the first connection reports', () => {
    expect(sharedTls({ server, tls: { cert: 'no certificate' } })).toEqual({ cert: 'no certificate' });
  });

  test('and for a server without TLS', () => {
    expect(sharedTls({ server: 'http://sea.test', tls: {} })).toEqual({});
  });
});
