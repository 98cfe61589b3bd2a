/** Pages of a dashboard in a cluster that are open while its certificate, its API server or their token change. */
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { connect } from 'node:tls';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { issueAuthority, issueServingCertificate, type Issued } from '../../../src/tls/issue.ts';
import { freePorts } from '../../cluster/control-plane/ports.ts';
import { mountSecret, secretData, type MountedSecret } from '../../unit/tls/mounted-secret.ts';
import { until } from '../../unit/tls/until.ts';
import { accessibilityFaults, chromiumPath, startBrowser, watchedPage } from './browser.ts';
import { ClusterOfUsers, HOST } from './cluster-of-users.ts';

const inBrowser = chromiumPath === undefined ? describe.skip : describe;

let leaves: Issued[];
let secret: MountedSecret;
let cluster: ClusterOfUsers;
let host: string;

beforeAll(async () => {
  const now = new Date();
  const authority = await issueAuthority({ commonName: 'ours', now, days: 30 });
  const names = { authority, dnsNames: [HOST, 'localhost'], now, days: 10 };
  leaves = await Promise.all([0, 1, 2].map(() => issueServingCertificate(names)));
});
beforeEach(async () => {
  secret = await mountSecret(secretData(leaf(0)));
  const [port = 0] = await freePorts(1);
  host = `localhost:${port}`;
  const flags = ['--cert-dir', secret.directory, '--port', String(port), '--host', host];
  cluster = await ClusterOfUsers.start(...flags);
  cluster.rights.set('ann', ['ml', 'new', 'newer', 'newest']);
});
afterEach(async () => {
  expect(await cluster.close()).toBe(0);
  await secret.remove();
});

const leaf = (index: number): Issued => {
  const found = leaves[index];
  if (found === undefined) throw new Error(`no leaf ${index}`);
  return found;
};
const warnings = (): string[] =>
  cluster.program.written.err.split('\n').filter((line) => /^warning/.test(line));

/** The certificate that a new connection is shown, as PEM without its line ends. */
const shown = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: cluster.port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().raw.toString('base64'));
      socket.destroy();
    });
    socket.on('error', reject);
  });
const ofLeaf = (index: number): string =>
  leaf(index)
    .certificate.split('-----END CERTIFICATE-----')[0]
    ?.replace(/-----BEGIN CERTIFICATE-----|\n/g, '') ?? '';

test('a renewed certificate is shown to new connections, a broken one is not, and open streams go on', async () => {
  const headers = { host: HOST, authorization: 'Bearer ann' };
  const to = { host: '127.0.0.1', port: cluster.port, headers, rejectUnauthorized: false, agent: false };
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ ...to, path: '/api/v1/gangs?watch=true' }, resolve).on('error', reject);
  });
  let [got, ended] = ['', false];
  stream.on('data', (chunk: Buffer) => (got += chunk.toString()));
  stream.on('close', () => (ended = true));
  await until('the gangs', () => got.includes('"namespace":"ml"'));
  expect(await shown()).toBe(ofLeaf(0));
  const goesOn = async (namespace: string): Promise<void> => {
    cluster.adds(namespace, 'late');
    await until(`the stream tells of ${namespace}`, () => got.includes(`"namespace":"${namespace}"`));
    expect(ended).toBe(false);
  };

  await secret.swap(secretData(leaf(1)));
  await until('the new certificate', async () => (await shown()) === ofLeaf(1));
  await goesOn('new');
  expect(warnings()).toEqual([]);

  const broken = { ...secretData(leaf(2)), 'tls.key': leaf(1).key };
  await secret.swap(broken);
  await until('a warning', () => warnings().length > 0);
  expect(warnings()[0]).toMatch(
    /^warning: TLS certificate not usable, the last good one stays in service: \{"code":"TLS_MISMATCH",/,
  );
  expect(await shown()).toBe(ofLeaf(1));
  await goesOn('newer');

  await secret.swap(secretData(leaf(2)));
  await until('the mended certificate', async () => (await shown()) === ofLeaf(2));
  await goesOn('newest');
  // Each fault is told once.
  expect(warnings()).toHaveLength(1);
  stream.destroy();
}, 60_000);

inBrowser('in a browser (skipped where there is no chromium)', () => {
  let browser: Browser;
  let page: Page;
  beforeEach(async () => {
    browser = await startBrowser();
    ({ page } = await watchedPage(browser, { ignoreHTTPSErrors: true }));
    await page.goto(`https://${host}/`);
    await page.getByLabel('Token').fill('ann');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('1 of 1 gangs').waitFor();
  }, 60_000);
  afterEach(() => browser.close());

  test.each(['#/gangs', '#/gangs/ml/train', '#/backends'])(
    'a token that is over leads to sign-in, and says so: %s',
    async (hash) => {
      await page.goto(`https://${host}/${hash}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      cluster.rights.delete('ann');
      cluster.ahead = 30_000;
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await page.getByRole('alert').allInnerTexts()).toEqual([
        'the API server knows no valid token of this request. Sign in with a token, such as that of kubectl create token.',
      ]);
      expect(await page.getByText('train').count()).toBe(0);
      expect(await accessibilityFaults(page)).toEqual([]);
      cluster.rights.set('bob', ['web']);
      await page.getByLabel('Token').fill('bob');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      expect(page.url()).toBe(`https://${host}/${hash}`);
    },
    60_000,
  );

  test('while the API server is away the page keeps what it knew, says so, and goes on by itself', async () => {
    // After such an answer a browser asks for no stream any more.
    const refused = page.waitForResponse((one) => one.url().endsWith('watch=true') && one.status() === 502);
    cluster.away = true;
    cluster.ahead = 30_000;
    const notice = page.getByRole('status').filter({ hasText: 'etcd is away' });
    await notice.waitFor();
    expect(await page.locator('.row .name').allTextContents()).toEqual(['ml/train']);
    await refused;
    cluster.away = false;
    cluster.adds('new', 'late');
    await page.getByRole('link', { name: 'new/late' }).waitFor();
    await notice.waitFor({ state: 'detached' });
    expect(await page.getByRole('heading', { name: 'Sign in' }).count()).toBe(0);
  }, 60_000);
});
