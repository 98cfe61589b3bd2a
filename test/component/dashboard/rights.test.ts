/** The page of somebody whose rights do not reach, or are taken away while it is open; skipped without a browser. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { until } from '../../unit/tls/until.ts';
import { GANGS, gangObject, podObject, PODS, WatchedApi } from '../cli/watched-api.ts';
import { list, status } from '../kube/fault-server.ts';
import { accessibilityFaults, chromiumPath, startBrowser, watchedPage, type WatchedPage } from './browser.ts';
import { StartedDashboard } from './started.ts';

const TRAIN = gangObject('train', 1, [['leader', 1, 'leader-0']]);
const LEADER = podObject('leader-0', 2);
const WHOLE = { podgangs: [TRAIN], pods: [LEADER], events: [] };

let browser: Browser;
let api: WatchedApi;
let started: StartedDashboard;
let opened: WatchedPage;

const inBrowser = chromiumPath === undefined ? describe.skip : describe;

inBrowser('without rights, in a browser (skipped where there is no chromium)', () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    api = await WatchedApi.start();
    api.has([TRAIN], [LEADER]).accepts();
    started = new StartedDashboard(api);
    await until('the watches', () => api.watched);
    opened = await watchedPage(browser);
    await opened.page.goto(await started.address());
    await opened.page.getByText('1 of 1 gangs').waitFor();
  }, 60_000);
  afterEach(async () => {
    await opened.context.close();
    expect(await started.end()).toBe(0);
    await api.close();
  });

  const toGang = async (): Promise<Page> => {
    await opened.page.getByRole('link', { name: 'ml/train' }).click();
    await opened.page.getByRole('heading', { name: 'ml/train' }).waitFor();
    return opened.page;
  };

  test.each(['podgangs', 'pods'] as const)(
    'to %s any more: list and gang say so, and keep what was known',
    async (plural) => {
      const forbidden = status(403, `${plural} is forbidden: User "ann" cannot list resource "${plural}"`);
      const other = plural === 'pods' ? list(1, [TRAIN]) : list(1, [LEADER]);
      api.server.standing = (line) =>
        line.includes(`/${plural}?`) ? forbidden : line.includes('watch=1') ? undefined : other;
      api.accepts().cuts();
      // What may be read is watched again; a list is no answer to a watch.
      await until('a watch of the other kind', () => api.watches(plural === 'pods' ? GANGS : PODS));
      expect(api.watches(plural === 'pods' ? PODS : GANGS)).toBe(false);
      const notice = opened.page.getByRole('status').filter({ hasText: 'cannot list resource' });
      await notice.waitFor();
      const way =
        'It takes the rights to list (with -w also to watch) pods and podgangs.scheduler.grove.io in namespace ml: ' +
        'the ClusterRole "view" has them once Muster is installed.';
      expect(await notice.innerText()).toMatch(
        new RegExp(`^Not up to date since .*: (list|watch) ${plural}: 403 `),
      );
      expect(await notice.innerText()).toContain(way);
      expect(await opened.page.locator('.row .name').allTextContents()).toEqual(['ml/train']);
      expect(await accessibilityFaults(opened.page)).toEqual([]);

      const page = await toGang();
      const alert = page.getByRole('alert');
      await alert.waitFor();
      expect(await alert.innerText()).toContain(way);
      expect(await alert.innerText()).toMatch(new RegExp(`^list ${plural}: 403 `));
      expect(await page.getByRole('region').count()).toBe(0);
      expect(await page.getByText(/reading|loading|None is known/).count()).toBe(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    },
  );

  test('to Events alone: they are not known, and are not said to be none', async () => {
    api.tellsTimeline({ podgangs: WHOLE.podgangs, pods: WHOLE.pods });
    const page = await toGang();
    const events = page.getByRole('region', { name: 'Events' });
    await events.waitFor();
    expect(await events.innerText()).toBe(
      'Events Not known: Events of namespace ml could not be read: you have no right to list them; the ClusterRole "view" has it',
    );
    const told = await page.getByRole('main').innerText();
    expect(told).not.toMatch(/None is known|there are no Events/);
    expect(told).toMatch(/Pods\s+Pod\s+Group\s+State\s+Node\s+Reason\s+leader-0/);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);

    api.tellsTimeline(WHOLE);
    await page.reload();
    await page.getByText('None is known; an API server keeps them for an hour.').waitFor();
  });
});
