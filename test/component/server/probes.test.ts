import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { issueAuthority } from '../../../src/tls/issue.ts';
import { issueClientCertificate } from '../../support/client-certificate.ts';
import { plainDirectory } from '../../unit/tls/mounted-secret.ts';
import { closeAll, start, until } from './running.ts';

afterEach(closeAll);

describe('probes answer over plain HTTP', () => {
  test('all well', async () => {
    const { probe } = await start();
    expect(await probe('/healthz')).toEqual({ status: 200, text: 'ok' });
    expect(await probe('/readyz')).toEqual({ status: 200, text: 'ok' });
    expect(await probe('/readyz?verbose')).toEqual({
      status: 200,
      text: '[+]not-draining ok\n[+]certificate ok\n[+]tls-self-call ok\nreadyz check passed\n',
    });
  });

  test('a check that fails or throws says its name and its reason, and can be left out', async () => {
    const { probe } = await start({
      checks: [
        { name: 'caches', check: () => 'not filled yet' },
        { name: 'broken', check: () => Promise.reject(new Error('no route')) },
      ],
    });
    const { status, text } = await probe('/readyz');
    expect(status).toBe(503);
    expect(text).toContain(
      '[-]caches failed: not filled yet\n[-]broken failed: no route\nreadyz check failed',
    );
    expect((await probe('/readyz?exclude=caches')).status).toBe(503);
    expect(await probe('/readyz?exclude=caches&exclude=broken')).toEqual({ status: 200, text: 'ok' });
    expect((await probe('/readyz?exclude=caches&exclude=broken&verbose')).text).not.toContain('caches');
    // A restart would not help: liveness does not look at them.
    expect(await probe('/healthz')).toEqual({ status: 200, text: 'ok' });
  });

  test('an expired certificate makes it unready, not dead', async () => {
    let now = new Date();
    const { probe } = await start({ now: () => now });
    expect((await probe('/readyz')).status).toBe(200);
    now = new Date(now.getTime() + 2 * 24 * 60 * 60 * 1000);
    const { status, text } = await probe('/readyz');
    expect(status).toBe(503);
    expect(text).toContain('[-]certificate failed: the serving certificate has expired');
    expect((await probe('/healthz')).status).toBe(200);
  });

  test('a webhook port that does not answer makes it unready: tls-self-call', async () => {
    const running = await start({ settings: { 'server.webhooks.limits.maxConnections': 1 } });
    await running.program.server.close();
    const { status, text } = await running.probe('/readyz');
    expect(status).toBe(503);
    expect(text).toMatch(/\[-\]tls-self-call failed: TLS call to port \d+: .*ECONNREFUSED/);
    expect((await running.probe('/healthz')).status).toBe(200);
  });

  test('the self-call needs no client certificate where one is asked for', async () => {
    const authority = await issueAuthority({ commonName: 'front', now: new Date(), days: 1 });
    const client = await issueClientCertificate({ authority, commonName: 'x', now: new Date(), days: 1 });
    const directory = await plainDirectory({ 'ca.crt': authority.certificate, 'x.crt': client.certificate });
    const { probe } = await start({
      text: `apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nserver: { webhooks: { clientCertificate: { caFile: "${directory}/ca.crt" } } }\n`,
    });
    expect(await probe('/readyz')).toEqual({ status: 200, text: 'ok' });
  });

  test('probes leave no connection behind', async () => {
    const running = await start();
    for (let call = 0; call < 10; call += 1) await running.probe('/readyz');
    await until('none is open', async () => (await running.metric('muster_connections')) === 0);
  });

  test('reviews are not taken there', async () => {
    const { program } = await start();
    const answer = await fetch(`http://127.0.0.1:${program.ports.health}/mutate-v1-pod`, { method: 'POST' });
    expect(answer.status).toBe(404);
  });

  test('plain HTTP on the webhook port ends the connection and harms nobody', async () => {
    const running = await start();
    const socket = connect(running.port, '127.0.0.1')
      .on('error', () => undefined)
      .resume();
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    await running.alive();
  });
});
