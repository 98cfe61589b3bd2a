import { Agent } from 'node:https';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { issueAuthority, issueServingCertificate } from '../../../src/tls/issue.ts';
import type { Issued } from '../../../src/tls/issue.ts';
import type { MusterError } from '../../../src/errors.ts';
import { applyPair } from '../../../src/tls/options.ts';
import type { TlsChoices } from '../../../src/tls/options.ts';
import { CertificateReloader } from '../../../src/tls/reload.ts';
import { mountSecret, secretData } from '../../unit/tls/mounted-secret.ts';
import type { MountedSecret, SecretData } from '../../unit/tls/mounted-secret.ts';
import { until } from '../../unit/tls/until.ts';
import { SERVER_NAME, oneShot, post, serve } from './serving.ts';
import type { Answer, Serving } from './serving.ts';

const now = new Date();
const DAY_MS = 24 * 60 * 60 * 1000;
const choices: TlsChoices = { minVersion: 'TLSv1.3' };

let authority: Issued;
let leaves: Issued[];
let expired: Issued;
beforeAll(async () => {
  authority = await issueAuthority({
    commonName: 'ours',
    now: new Date(now.getTime() - 20 * DAY_MS),
    days: 30,
  });
  const issue = (from: number, days: number): Promise<Issued> =>
    issueServingCertificate({
      authority,
      dnsNames: [SERVER_NAME],
      now: new Date(now.getTime() + from * DAY_MS),
      days,
    });
  leaves = await Promise.all([issue(0, 1), issue(0, 2), issue(0, 3), issue(0, 4)]);
  expired = await issue(-10, 5);
});

interface Rotating {
  readonly secret: MountedSecret;
  readonly serving: Serving;
  readonly reloader: CertificateReloader;
  readonly rejections: MusterError[];
  /** A request over a new connection. */
  readonly call: () => Promise<Answer>;
}

const open: Rotating[] = [];
afterEach(async () => {
  for (const { reloader, serving } of open.splice(0)) {
    await reloader.stop();
    await serving.close();
  }
});

const rotating = async (): Promise<Rotating> => {
  const secret = await mountSecret(secretData(leaf(0), authority));
  const rejections: MusterError[] = [];
  const reloader: CertificateReloader = new CertificateReloader({
    directory: secret.directory,
    serverName: SERVER_NAME,
    now: () => new Date(),
    pollIntervalMs: 100,
    onSwap: (pair) => applyPair(serving.server, pair, choices),
    onRejected: (error) => void rejections.push(error),
    log: { info: () => undefined, warn: () => undefined },
  });
  const serving = await serve(await reloader.start(), choices);
  const call = (): Promise<Answer> => post(serving.port, { agent: oneShot(), ca: authority.certificate });
  const all = { secret, serving, reloader, rejections, call };
  open.push(all);
  return all;
};

const leaf = (index: number): Issued => {
  const found = leaves[index];
  if (found === undefined) throw new Error(`no leaf ${index}`);
  return found;
};

test('rotation under load: no request fails, open connections stay, new ones get the new leaf (V56)', async () => {
  const { secret, serving, reloader, call } = await rotating();
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca: authority.certificate });
  const first = reloader.current.fingerprint256;
  let stopped = false;
  const answers: Answer[] = [];
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (!stopped) {
      await post(serving.port, { agent }).then(
        (answer) => answers.push(answer),
        (error: unknown) => failures.push(error),
      );
    }
  };
  const workers = Array.from({ length: 8 }, worker);
  await until('all connections are in use', () => new Set(answers.map(({ socket }) => socket)).size === 8);

  const served: string[] = [];
  for (const index of [1, 2, 3]) {
    await secret.swap(secretData(leaf(index), authority));
    await until(
      `leaf ${index} is in service`,
      () => reloader.current.certificate.toString() === leaf(index).certificate,
    );
    const before = answers.length;
    served.push((await call()).fingerprint);
    expect(served.at(-1)).toBe(reloader.current.fingerprint256);
    await until('the load went on', () => answers.length > before + 50);
  }
  stopped = true;
  await Promise.all(workers);
  agent.destroy();

  expect(failures).toEqual([]);
  expect(new Set([first, ...served]).size).toBe(4);
  expect(answers.every(({ status, body }) => status === 200 && body === 'ok')).toBe(true);
  expect(new Set(answers.map(({ socket }) => socket)).size).toBe(8);
  expect(new Set(answers.map(({ fingerprint }) => fingerprint))).toEqual(new Set([first]));
});

describe('what is mounted is bad: the last good pair stays in service (V56)', () => {
  const cases: [string, () => SecretData | undefined, string][] = [
    [
      'mismatched pair',
      () => ({ ...secretData(leaf(1), authority), 'tls.key': leaf(2).key }),
      'TLS_MISMATCH',
    ],
    ['expired pair', () => secretData(expired, authority), 'TLS_EXPIRED'],
    ['empty file', () => ({ ...secretData(leaf(1), authority), 'tls.crt': '' }), 'TLS_UNREADABLE'],
    ['directory removed', () => undefined, 'TLS_UNREADABLE'],
  ];
  test.each(cases)('%s', async (_, data, code) => {
    const { secret, reloader, rejections, call } = await rotating();
    const good = reloader.current.fingerprint256;
    const next = data();
    if (next === undefined) await secret.remove();
    else await secret.swap(next);
    await until('the fault was told', () => rejections.some((error) => error.code === code));
    const rejected = reloader.counts.rejected;
    await until('it was looked at again', () => reloader.counts.rejected > rejected + 2);
    expect(rejections).toHaveLength(1);
    expect(await call()).toMatchObject({ status: 200, fingerprint: good });

    await secret.swap(secretData(leaf(1), authority));
    await until('the repaired pair is in service', () => reloader.current.fingerprint256 !== good);
    expect(await call()).toMatchObject({ status: 200, fingerprint: reloader.current.fingerprint256 });
  });
});
