/** The pages of the load, of the fleet and of the backends in a real browser; without one the tests are skipped. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { BackendStatus } from '../../../src/status/backend-status.ts';
import type { AssignedStatus, MemberStatus } from '../../../src/status/fleet-members.ts';
import { accessibilityFaults, chromiumPath, startBrowser, watchedPage, type WatchedPage } from './browser.ts';
import { DashboardOfGangs, someGang } from './some-gangs.ts';

const HOSTILE = ['<script>window.owned=1</script>', '<img src=x onerror="window.owned=1">', '\u202egnp.exe'];

const member = (name: string): MemberStatus => ({
  ...{ name, ready: 'True', why: name, nodes: { ready: 3, total: 4 } },
  ...{ allocatable: { cpu: '8' }, free: { cpu: '5500m' } },
});
const assigned = (name: string): AssignedStatus => ({
  ...{ namespace: 'ml', name, workload: `batch/v1 Job ${name}`, state: 'Placed', why: name },
  clusters: [{ name, replicas: 5, components: [{ name: 'master', replicas: 1 }] }],
});
const backend = (name: string): BackendStatus => ({
  ...{ name, default: false, state: 'NotReady', version: '', says: [name], gangs: 3 },
  kinds: [{ apiVersion: 'x/v1', kind: name, served: false }],
});

const inBrowser = chromiumPath === undefined ? describe.skip : describe;

inBrowser('in a browser (skipped where there is no chromium)', () => {
  let browser: Browser;
  let dashboard: DashboardOfGangs;
  let opened: WatchedPage;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    dashboard = await DashboardOfGangs.start([]);
  });
  afterEach(async () => {
    await opened.context.close();
    await dashboard.close();
  });

  test('by keys alone: the fleet, of which there is none, and the backends', async () => {
    dashboard.backends = [{ ...backend('volcano'), default: true }];
    opened = await watchedPage(browser);
    const { page } = opened;
    await page.goto(dashboard.address);
    for (const [title, times] of [
      ['Fleet', 4],
      ['Backends', 5],
    ] as const) {
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.reload();
      await page.getByRole('link', { name: title }).waitFor();
      for (let at = 0; at < times; at += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: title }).waitFor();
      expect(await page.title()).toBe(`${title} - Muster`);
      expect(await page.locator('nav a[aria-current]').allTextContents()).toEqual([title]);
      if (title === 'Fleet') {
        await page.getByText('This is no fleet.').waitFor();
        expect(await page.locator('table').count()).toBe(0);
        await page.keyboard.press('Escape');
        await page.waitForFunction(() => !location.hash.includes('fleet'));
      }
    }
    await page.getByRole('region', { name: 'Scheduler backends' }).waitFor();
    expect(await page.locator('tbody tr').innerText()).toMatch(
      /^volcano \(default\)\s+✕ NotReady\s+3\s+-\s+volcano of x\/v1: not served\s+volcano$/,
    );
    expect(opened.complaints).toEqual([]);
  });

  test('the load of namespaces and of queues: who waits, for what, and what gates hold back, as it changes', async () => {
    const team = { ...someGang('eval'), namespace: 'team', queue: '<b>research' };
    dashboard.gpus.set('train', 16).set('eval', 2);
    dashboard.set([{ ...someGang('train'), queue: 'big' }, someGang('done', { phase: 'Running' }), team]);
    opened = await watchedPage(browser);
    const { page } = opened;
    await page.goto(dashboard.address);
    await page.getByRole('link', { name: 'Load' }).click();
    const rows = (caption: string): Promise<string[]> =>
      page.getByRole('region', { name: caption }).locator('tbody tr').allInnerTexts();
    await page.getByRole('region', { name: 'Queues of schedulers' }).waitFor();
    const cells = async (caption: string): Promise<string[][]> =>
      (await rows(caption)).map((row) => row.split(/\s*\t\s*/));
    expect(await cells('Namespaces')).toEqual([
      ['ml', '2', '1', '1/2', '1', '16', 'Initialized (1)'],
      ['team', '1', '1', '0/1', '1', '2', 'Initialized (1)'],
    ]);
    expect(await cells('Queues of schedulers')).toEqual([
      ['big (kai-scheduler)', '1', '1', '0/1', '1', '16', 'Initialized (1)'],
      ['<b>research (kai-scheduler)', '1', '1', '0/1', '1', '2', 'Initialized (1)'],
    ]);
    dashboard.gpus.clear();
    dashboard.set([someGang('train', { phase: 'Running' })]);
    await page.getByText('2/2').waitFor();
    expect((await cells('Namespaces'))[1]).toEqual(['ml', '2', '0', '2/2', '0', '0', '-']);
    dashboard.remove('eval');
    await page.getByText('No PodGang names a queue of its scheduler.').waitFor();
    await page.getByRole('link', { name: 'ml' }).click();
    await page.getByText('2 of 2 gangs').waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test('a fleet without clusters and bindings is sentences, no empty tables', async () => {
    dashboard.members = { ...dashboard.members, absent: null };
    opened = await watchedPage(browser);
    const { page } = opened;
    await page.goto(dashboard.address);
    await page.evaluate(() => (location.hash = '#/fleet'));
    await page.getByText('The fleet has no clusters: join one to Karmada.').waitFor();
    await page.getByText('No binding names the scheduler muster: Muster has none to assign.').waitFor();
    expect(await page.locator('table').count()).toBe(0);
  });

  test('what has no Pods is in its clusters without a number', async () => {
    const one = assigned('settings');
    const clusters = [
      { name: 'm1', replicas: 0 },
      { name: 'm2', replicas: 2 },
    ];
    dashboard.members = { ...dashboard.members, absent: null, bindings: [{ ...one, clusters }] };
    opened = await watchedPage(browser);
    const { page } = opened;
    await page.goto(dashboard.address);
    await page.evaluate(() => (location.hash = '#/fleet'));
    await page.getByRole('cell', { name: 'm1, m2 (2)', exact: true }).waitFor();
  });

  test.each([
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 400 },
  ] as const)('names of any kind are text, and axe finds nothing: %j', async ({ colorScheme, width }) => {
    const names = [...HOSTILE, 'x'.repeat(253)];
    dashboard.members = {
      ...{ absent: null, schedulerName: 'muster' },
      clusters: names.map(member),
      bindings: names.map(assigned),
    };
    dashboard.backends = names.map(backend);
    opened = await watchedPage(browser, { colorScheme, viewport: { width, height: 700 } });
    const { page } = opened;
    await page.goto(dashboard.address);
    for (const [hash, regions] of [
      ['#/fleet', ['Clusters of the fleet', 'Bindings that Muster assigns']],
      ['#/backends', ['Scheduler backends']],
    ] as const) {
      await page.evaluate((to) => (location.hash = to), hash);
      for (const name of regions) {
        const region = page.getByRole('region', { name });
        await region.waitFor();
        const first = await region.locator('tbody td:first-child').allTextContents();
        expect(first.map((text) => text.replace(/^ml\//, ''))).toEqual(names);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      expect(await accessibilityFaults(page)).toEqual([]);
    }
    expect(await page.evaluate(() => 'owned' in window)).toBe(false);
    expect(opened.complaints).toEqual([]);
  });
});
