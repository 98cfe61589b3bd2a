import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { issueAuthority, issueServingCertificate, type Issued } from '../../../src/tls/issue.ts';
import { issueClientCertificate } from '../../support/client-certificate.ts';
import {
  mountSecret,
  plainDirectory,
  secretData,
  type MountedSecret,
} from '../../unit/tls/mounted-secret.ts';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { closeAll, expectGolden, expectStatus, start, until, type Running } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

afterEach(closeAll);

const now = new Date();
const DAY_MS = 24 * 60 * 60 * 1000;
const request = httpRequest(MUTATE_POD, goldenText);

let authority: Issued;
let leaves: Issued[];
let expired: Issued;
beforeAll(async () => {
  authority = await issueAuthority({
    commonName: 'ours',
    now: new Date(now.getTime() - 20 * DAY_MS),
    days: 30,
  });
  const leaf = (from: number): Promise<Issued> =>
    issueServingCertificate({
      authority,
      dnsNames: ['localhost'],
      now: new Date(now.getTime() + from * DAY_MS),
      days: 5,
    });
  leaves = await Promise.all([leaf(0), leaf(0), leaf(0)]);
  expired = await leaf(-10);
});

describe('V21: client certificates, by the whole program', () => {
  const asking = async (): Promise<{
    running: Running;
    ours: Issued;
    call: (name: string, by?: Issued) => Promise<Wire>;
  }> => {
    const ours = await issueAuthority({ commonName: 'front', now, days: 1 });
    const directory = await plainDirectory({ 'front.crt': ours.certificate });
    const running = await start({
      text: `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
server: { webhooks: { clientCertificate: { caFile: ${join(directory, 'front.crt')}, allowedNames: [kube-apiserver] } } }
`,
    });
    const call = async (commonName: string, by = ours): Promise<Wire> => {
      const client = await issueClientCertificate({ authority: by, commonName, now, days: 1 });
      return Wire.open(running.port, { cert: client.certificate, key: client.key });
    };
    return { running, ours, call };
  };

  test('V21: no certificate is a TLS alert, a wrong name 403 on every path, the right name is served', async () => {
    const { running, call } = await asking();
    const none = await Wire.open(running.port); // TLS 1.3 tells only after the client's side is done
    await none.closed();
    expect(none.error?.code).toBe('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED');

    const wrong = await call('kubelet');
    const answer = await wrong.send(request).answer();
    expectStatus(answer, 403, /the client certificate is for "kubelet"; allowed: "kube-apiserver"/);
    wrong.destroy();

    const right = await call('kube-apiserver');
    expectGolden(await right.send(request).answer());
    right.destroy();
  });

  test('a certificate of another CA never gets to send a request', async () => {
    const { call } = await asking();
    const foreign = await issueAuthority({ commonName: 'front', now, days: 1 });
    const wire = await call('kube-apiserver', foreign);
    await wire.send(request).closed();
    expect(wire.unread).toBe('');
  });
});

describe('V56: the certificate changes under load', () => {
  const fingerprintNow = async ({ port }: Running): Promise<string> => {
    const wire = await Wire.open(port);
    const { fingerprint256 } = wire.socket.getPeerCertificate();
    wire.destroy();
    return fingerprint256;
  };
  const reloads = (running: Running, result: string): Promise<number> =>
    running.metric(`muster_tls_reload_total{result="${result}"}`);

  /** Runs `change` while kept and new connections send reviews. @returns how often they did; none may fail */
  async function underLoad({ port }: Running, change: () => Promise<void>): Promise<number> {
    let stop = false;
    let answered = 0;
    const kept = async (): Promise<void> => {
      const wire = await Wire.open(port);
      for (; !stop; answered += 1) expectGolden(await wire.send(request).answer());
      wire.destroy();
    };
    const fresh = async (): Promise<void> => {
      for (; !stop; answered += 1) {
        const wire = await Wire.open(port);
        expectGolden(await wire.send(request).answer());
        wire.destroy();
      }
    };
    const load = Promise.all([kept(), kept(), fresh(), fresh()]);
    try {
      await until('there is load', () => answered > 20);
      await Promise.race([change(), load]);
      const before = answered;
      await until('it went on', () => answered > before + 20);
    } finally {
      stop = true;
    }
    await load;
    return answered;
  }

  const mounted = async (): Promise<{ running: Running; secret: MountedSecret }> => {
    const secret = await mountSecret(secretData(leaves[0] as Issued, authority));
    const running = await start({ certDir: secret.directory, pollIntervalMs: 100 });
    return { running, secret };
  };

  test('V56: a matching pair is served to new connections, counted and logged; no review fails', async () => {
    const { running, secret } = await mounted();
    const first = await fingerprintNow(running);
    await underLoad(running, async () => {
      for (const leaf of leaves.slice(1)) {
        const before = await reloads(running, 'swapped');
        await secret.swap(secretData(leaf, authority));
        await until('it is swapped', async () => (await reloads(running, 'swapped')) === before + 1);
      }
    });
    const last = await fingerprintNow(running);
    expect(last).not.toBe(first);
    expect(last).toBe(running.program.certificates.current.fingerprint256);
    expect(running.lines.filter((line) => line.includes('serving a new TLS certificate'))).toHaveLength(2);
    const notAfter = running.program.certificates.current.notAfter.getTime() / 1000;
    expect(await running.metric('muster_tls_not_after_seconds')).toBe(notAfter);
    expect((await running.probe('/readyz')).status).toBe(200);
  });

  const bad: [string, string, (secret: MountedSecret) => Promise<void>][] = [
    [
      'a mismatched pair',
      'TLS_MISMATCH',
      (secret) =>
        secret.swap({ ...secretData(leaves[1] as Issued, authority), 'tls.key': (leaves[2] as Issued).key }),
    ],
    ['an expired pair', 'TLS_EXPIRED', (secret) => secret.swap(secretData(expired, authority))],
    [
      'an empty file',
      'TLS_UNREADABLE',
      ({ directory }) => writeFile(join(directory, '..data', 'tls.crt'), ''),
    ],
    ['the directory removed', 'TLS_UNREADABLE', (secret) => secret.remove()],
  ];
  test.each(bad)(
    'V56: %s: the last good pair stays, counted and logged once; no review fails',
    async (_, code, change) => {
      const { running, secret } = await mounted();
      const good = await fingerprintNow(running);
      await underLoad(running, async () => {
        await change(secret);
        await until('it is refused twice', async () => (await reloads(running, 'rejected')) >= 2);
      });
      expect(await fingerprintNow(running)).toBe(good);
      expect(running.lines.filter((line) => line.includes(`"code":"${code}"`))).toHaveLength(1);
      expect((await running.probe('/readyz')).status).toBe(200);
      // And it gets over it.
      await secret.swap(secretData(leaves[1] as Issued, authority));
      await until('a good pair is taken', async () => (await fingerprintNow(running)) !== good);
    },
  );
});
