import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { MusterError } from '../../../src/errors.ts';
import { issueAuthority, issueServingCertificate } from '../../../src/tls/issue.ts';
import type { Issued } from '../../../src/tls/issue.ts';
import {
  CertificateReloader,
  type ServingPair,
  type CertificateReloaderOptions,
  type ReloadResult,
} from '../../../src/tls/reload.ts';
import { mountSecret, secretData } from './mounted-secret.ts';
import type { MountedSecret, SecretData } from './mounted-secret.ts';
import { until } from './until.ts';

const serverName = 'muster.muster-system.svc';
const start = new Date('2026-06-01T12:00:00Z');
const days = (count: number): Date => new Date(start.getTime() + count * 24 * 60 * 60 * 1000);
const NEVER_POLL = 3_600_000;

let authority: Issued;
let first: Issued;
let second: Issued;
let later: Issued;
let elsewhere: Issued;
let foreign: Issued;
let expired: Issued;

beforeAll(async () => {
  authority = await issueAuthority({ commonName: 'ours', now: days(-30), days: 400 });
  const issue = (from: number, length: number, dnsNames = [serverName]): Promise<Issued> =>
    issueServingCertificate({ authority, dnsNames, now: days(from), days: length });
  [first, second, later, elsewhere, expired, foreign] = await Promise.all([
    issue(0, 30),
    issue(0, 60),
    issue(10, 90),
    issue(0, 30, ['elsewhere']),
    issue(-10, 5),
    issueServingCertificate({ dnsNames: [serverName], now: start, days: 30 }),
  ]);
});

interface Fixture {
  readonly secret: MountedSecret;
  readonly reloader: CertificateReloader;
  readonly swaps: ServingPair[];
  readonly rejections: MusterError[];
  readonly results: ReloadResult[];
  readonly logged: string[];
  now: Date;
}

const running: CertificateReloader[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((reloader) => reloader.stop()));
});

const prepare = async (
  data: SecretData,
  options: Partial<Pick<CertificateReloaderOptions, 'pollIntervalMs' | 'onSwap'>> = {},
): Promise<Fixture> => {
  const secret = await mountSecret(data);
  const swaps: ServingPair[] = [];
  const rejections: MusterError[] = [];
  const results: ReloadResult[] = [];
  const logged: string[] = [];
  const reloader = new CertificateReloader({
    directory: secret.directory,
    serverName,
    now: () => fixture.now,
    pollIntervalMs: NEVER_POLL,
    onSwap: (pair) => void swaps.push(pair),
    onRejected: (error) => void rejections.push(error),
    onResult: (result) => void results.push(result),
    log: {
      info: (_, message) => void logged.push(`info: ${message}`),
      warn: (_, message) => void logged.push(`warn: ${message}`),
    },
    ...options,
  });
  const fixture: Fixture = { secret, reloader, swaps, rejections, results, logged, now: start };
  running.push(reloader);
  return fixture;
};

const prepareAndStart = async (...given: Parameters<typeof prepare>): Promise<Fixture> => {
  const fixture = await prepare(...given);
  await fixture.reloader.start();
  return fixture;
};

const pem = (pair: ServingPair): string => pair.certificate.toString();

describe('a certificate with less than a day left', () => {
  const warnings = ({ logged }: Fixture): string[] => logged.filter((line) => line.startsWith('warn'));
  const SOON = 'warn: the serving certificate ends soon: renew it';

  test('is warned of at the start, once', async () => {
    const fixture = await prepare(secretData(first, authority));
    fixture.now = days(29.1);
    await fixture.reloader.start();
    await fixture.reloader.check();
    expect(warnings(fixture)).toEqual([SOON]);
  });

  test('is warned of when the day begins, and again for the next one', async () => {
    const fixture = await prepareAndStart(secretData(first, authority));
    fixture.now = days(28.9);
    await fixture.reloader.check();
    expect(warnings(fixture)).toEqual([]);
    fixture.now = days(29.1);
    await fixture.reloader.check();
    expect(warnings(fixture)).toEqual([SOON]);
    await fixture.secret.swap(secretData(second, authority));
    await fixture.reloader.check();
    expect(warnings(fixture)).toEqual([SOON]);
    fixture.now = days(59.5);
    await fixture.reloader.check();
    expect(warnings(fixture)).toEqual([SOON, SOON]);
  });
});

describe('the start', () => {
  test('gives the first pair, without a swap', async () => {
    const { reloader, swaps } = await prepare(secretData(first, authority));
    const pair = await reloader.start();
    expect(pem(pair)).toBe(first.certificate);
    expect(reloader.current).toBe(pair);
    expect(reloader.expired()).toBe(false);
    expect(swaps).toEqual([]);
  });

  test('fails without a good pair, and may be tried again', async () => {
    const { reloader, secret, results } = await prepare(secretData(expired, authority));
    await expect(reloader.start()).rejects.toMatchObject({ code: 'TLS_EXPIRED' });
    expect(() => reloader.current).toThrow('CertificateReloader was not started');
    expect(reloader.expired()).toBe(true);
    expect(results).toEqual([]);
    await secret.swap(secretData(first, authority));
    await reloader.start();
    expect(pem(reloader.current)).toBe(first.certificate);
  });
});

describe('a new pair', () => {
  test('is found by the watch alone', async () => {
    const { reloader, secret, swaps, logged } = await prepareAndStart(secretData(first, authority));
    for (const pair of [second, first, second]) {
      await secret.swap(secretData(pair, authority));
      await until('the watch found the pair', () => pem(reloader.current) === pair.certificate);
    }
    expect(swaps.map(pem)).toEqual([second, first, second].map(({ certificate }) => certificate));
    expect(logged).toEqual(Array(3).fill('info: serving a new TLS certificate'));
  });

  test('is found by polling, after the watched directory went away and came back', async () => {
    const { reloader, secret, rejections } = await prepareAndStart(secretData(first, authority), {
      pollIntervalMs: 20,
    });
    await secret.remove();
    const absence = `cannot read tls.crt in ${secret.directory}: there is no such file`;
    await until('the absence was noticed', () => rejections.at(-1)?.message === absence);
    expect(pem(reloader.current)).toBe(first.certificate);
    await secret.swap(secretData(second, authority));
    await until('the new directory was read', () => pem(reloader.current) === second.certificate);
  });

  test('counts as new when only ca.crt changed, for whoever publishes it', async () => {
    const { reloader, secret } = await prepareAndStart(secretData(first, authority));
    const bundle = authority.certificate + foreign.certificate;
    await secret.swap({ ...secretData(first), 'ca.crt': bundle });
    await until('ca.crt was taken over', () => reloader.current.caCertificate?.toString() === bundle);
    await secret.swap(secretData(first));
    await until('ca.crt was given up', () => reloader.current.caCertificate === undefined);
    await expect(reloader.check()).resolves.toBe('unchanged');
  });

  test('is not seen in files that were merely touched', async () => {
    const { reloader, secret, swaps } = await prepareAndStart(secretData(first, authority));
    await utimes(join(secret.directory, 'tls.crt'), days(1), days(1));
    await secret.swap(secretData(first, authority));
    await expect(reloader.check()).resolves.toBe('unchanged');
    expect(swaps).toEqual([]);
  });
});

describe('a bad pair', () => {
  const cases: [string, () => SecretData, string, RegExp][] = [
    [
      'mismatched',
      () => ({ ...secretData(second, authority), 'tls.key': first.key }),
      'TLS_MISMATCH',
      /tls\.key/,
    ],
    ['expired', () => secretData(expired, authority), 'TLS_EXPIRED', /expired at 2026-05-27T12:00:00.000Z/],
    ['not yet valid', () => secretData(later, authority), 'TLS_NOT_YET_VALID', /before 2026-06-11T11:55:00/],
    [
      'for another name',
      () => secretData(elsewhere, authority),
      'TLS_WRONG_NAME',
      /names are: DNS:elsewhere/,
    ],
    ['of another CA', () => secretData(foreign, authority), 'TLS_CHAIN', /was not issued by ca.crt/],
    [
      'empty',
      () => ({ ...secretData(second, authority), 'tls.crt': '' }),
      'TLS_UNREADABLE',
      /tls.crt .* empty/,
    ],
    [
      'cut short',
      () => ({ ...secretData(second), 'tls.key': second.key.slice(0, second.key.length / 2) }),
      'TLS_UNREADABLE',
      /key/,
    ],
  ];

  test.each(cases)('%s: the last good one stays, told once, counted always', async (_, data, code, text) => {
    const { reloader, secret, swaps, rejections, results, logged } = await prepareAndStart(
      secretData(first, authority),
    );
    const good = reloader.current;
    await secret.swap(data());
    for (let look = 0; look < 5; look += 1) await expect(reloader.check()).resolves.toBe('rejected');
    expect(reloader.current).toBe(good);
    expect(swaps).toEqual([]);
    expect(rejections.map((error) => error.code)).toEqual([code]);
    expect(rejections[0]?.message).toMatch(text);
    expect(logged).toEqual(['warn: TLS certificate not usable, the last good one stays in service']);
    expect(reloader.counts.rejected).toBeGreaterThanOrEqual(5);
    expect(reloader.counts.rejected).toBe(results.filter((result) => result === 'rejected').length);

    await secret.swap(secretData(second, authority));
    await until('the next good pair was taken', () => pem(reloader.current) === second.certificate);
    await secret.swap(data());
    await reloader.check();
    expect(rejections).toHaveLength(2); // the same fault anew is news again
  });

  test('is looked at again as time passes: not yet valid becomes valid', async () => {
    const fixture = await prepareAndStart(secretData(first, authority));
    await fixture.secret.swap(secretData(later, authority));
    await expect(fixture.reloader.check()).resolves.toBe('rejected');
    fixture.now = days(11);
    // The reloader's own watch may be first.
    await expect(fixture.reloader.check()).resolves.not.toBe('rejected');
    expect(pem(fixture.reloader.current)).toBe(later.certificate);
  });

  test('is what the server refuses to take: tried again, told once', async () => {
    let refusing = true;
    const { reloader, secret, rejections } = await prepareAndStart(secretData(first, authority), {
      onSwap: () => {
        if (refusing) throw new Error('ee key too small');
      },
    });
    await secret.swap(secretData(second, authority));
    await reloader.check();
    await reloader.check();
    expect(pem(reloader.current)).toBe(first.certificate);
    expect(rejections).toHaveLength(1);
    expect(rejections[0]).toMatchObject({
      code: 'TLS_UNREADABLE',
      message: `the new certificate in ${secret.directory} could not be put into service: ee key too small`,
      fix: 'issue a new certificate; if this one serves elsewhere, report the message as a bug',
    });
    refusing = false;
    await until('the pair was taken', async () => (await reloader.check()) !== 'rejected');
    expect(pem(reloader.current)).toBe(second.certificate);
  });
});

test('a pair that expires in service is told once, and makes the server unready', async () => {
  const fixture = await prepareAndStart(secretData(first, authority));
  const { reloader, rejections } = fixture;
  expect([reloader.expired(days(30)), reloader.expired(days(30.001))]).toEqual([false, true]);
  fixture.now = days(31);
  expect(reloader.expired()).toBe(true);
  await expect(reloader.check()).resolves.toBe('rejected');
  await expect(reloader.check()).resolves.toBe('rejected');
  expect(rejections.map(({ code }) => code)).toEqual(['TLS_EXPIRED']);
  expect(pem(reloader.current)).toBe(first.certificate);

  await fixture.secret.swap(secretData(later, authority));
  await until('the renewed pair was taken', () => !reloader.expired());
});

test('after stop nothing is swapped any more, and the pair remains', async () => {
  const { reloader, secret, swaps, results } = await prepareAndStart(secretData(first, authority), {
    pollIntervalMs: 5,
  });
  await until('it has polled', () => results.length > 2);
  const underWay = secret.swap(secretData(second, authority));
  await reloader.stop();
  const looks = results.length;
  await underWay;
  await expect(reloader.check()).resolves.toBe('unchanged');
  expect(results.length).toBe(looks + 1);
  expect(swaps.length).toBeLessThanOrEqual(1);
  await reloader.stop();
});
