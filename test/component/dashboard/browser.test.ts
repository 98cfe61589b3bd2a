/** The page in a real browser; without one the tests are skipped, which their name says. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { MusterError } from '../../../src/errors.ts';
import { inLength } from '../../support/length.ts';
import type { Browser, Page } from 'playwright-core';
import {
  accessibilityFaults,
  chromiumPath,
  mainThreadMs,
  startBrowser,
  watchedPage,
  type WatchedPage,
} from './browser.ts';
import { DashboardOfGangs, someGang } from './some-gangs.ts';

let browser: Browser;
let dashboard: DashboardOfGangs;
let opened: WatchedPage;

const open = async (
  gangs: Parameters<typeof DashboardOfGangs.start>[0],
  options?: Parameters<typeof watchedPage>[1],
): Promise<Page> => {
  dashboard = await DashboardOfGangs.start(gangs);
  opened = await watchedPage(browser, options);
  await opened.page.goto(dashboard.address);
  return opened.page;
};

const names = (page: Page): Promise<string[]> => page.locator('.row .name').allTextContents();
/** Waits for what the page has to show. */
const shows = (page: Page, text: string): Promise<void> =>
  page.getByText(text, { exact: true }).first().waitFor();

const FEW = [someGang('train-10'), someGang('train-2'), someGang('done', { phase: 'Running' })];

const inBrowser = chromiumPath === undefined ? describe.skip : describe;

inBrowser(
  'in a browser (skipped where there is no chromium: apt install chromium, or name it in $CHROMIUM)',
  () => {
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(() => browser.close());
    afterEach(async () => {
      await opened.context.close();
      await dashboard.close();
    });

    test('gangs are listed by state with their reasons, and the address has no token any more', async () => {
      const page = await open(FEW);
      await shows(page, '3 of 3 gangs');
      expect(await names(page)).toEqual(['ml/train-2', 'ml/train-10', 'ml/done']);
      expect(await page.locator('.row').first().innerText()).toMatch(
        /Pending\s+waiting for Pods: leader 0\/1\s/,
      );
      expect(page.url()).toBe(`http://127.0.0.1:${dashboard.port}/`);
      expect(opened.complaints).toEqual([]);
      expect([...opened.origins]).toEqual([`http://127.0.0.1:${dashboard.port}`]);
    });

    test('changes are shown as they come: a gang runs, another goes, the API server is away and back', async () => {
      const page = await open(FEW);
      await shows(page, '3 of 3 gangs');
      dashboard.set([someGang('train-2', { phase: 'Running' })]);
      await page.waitForFunction(() => document.querySelectorAll('.state-running').length === 2);
      expect(await names(page)).toEqual(['ml/train-10', 'ml/done', 'ml/train-2']);
      dashboard.remove('done');
      await shows(page, '2 of 2 gangs');

      dashboard.set([], { since: Date.UTC(2026, 0, 1), message: 'no answer' });
      const status = page.getByRole('status').filter({ hasText: 'Not up to date since' });
      await status.waitFor();
      expect(await status.innerText()).toMatch(
        /^Not up to date since .*2026.*: no answer\. Muster tries again\.$/,
      );
      dashboard.set([]);
      await status.waitFor({ state: 'detached' });
    });

    test('a search is in the address, and a link shows the same', async () => {
      const page = await open(FEW);
      await shows(page, '3 of 3 gangs');
      await page.getByRole('searchbox').fill('train waiting');
      await shows(page, '2 of 3 gangs');
      await page.getByRole('combobox').selectOption('Running');
      await shows(page, '0 of 3 gangs');
      expect(new URL(page.url()).hash).toBe('#/gangs?search=train+waiting&state=Running');
      const other = await opened.context.newPage();
      await other.goto(page.url().replace('Running', 'Pending'));
      await shows(other, '2 of 3 gangs');
      expect(await other.getByRole('searchbox').inputValue()).toBe('train waiting');
    });

    test('keys alone: search, down, open, back', async () => {
      const page = await open(FEW);
      await shows(page, '3 of 3 gangs');
      await page.keyboard.press('/');
      await page.keyboard.type('train');
      await shows(page, '2 of 3 gangs');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page.waitForFunction(() => document.activeElement?.textContent?.includes('train-10'));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'ml/train-10' }).waitFor();
      await page.getByRole('region', { name: 'Events' }).waitFor();
      expect(await page.title()).toBe('ml/train-10 - Muster');
      for (const text of [
        'the gang is not complete',
        'train-10-0',
        'Waiting',
        'waiting for Pods: leader 0/1 (2 times)',
        'Not known: what was before',
        'PodGroup/train-10',
        'Unschedulable True: NoRoom: waiting for Pods: leader 0/1',
        '3 older Events are left out.',
      ])
        await shows(page, text);
      await page.keyboard.press('Escape');
      await shows(page, '2 of 3 gangs');
    });

    test('a button of a gang that waits tells what would have to make room, and one that runs has none', async () => {
      const page = await open(FEW);
      await shows(page, '3 of 3 gangs');
      await page.getByRole('link', { name: 'ml/train-10' }).click();
      const button = page.getByRole('button', { name: 'Would it fit now?' });
      dashboard.planned = () => Promise.reject(new MusterError('CLUSTER_REFUSED', 'list nodes: 403', 'Ask.'));
      await button.press('Enter');
      await shows(page, 'list nodes: 403. Ask.');
      const answer = Promise.withResolvers<undefined>();
      dashboard.planned = () => answer.promise;
      await button.press('Enter');
      await shows(page, 'Reading the cluster and planning …');
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Would it fit now?');
      answer.resolve(undefined);
      await shows(
        page,
        'Gang ml/train-10 (priority 5) would fit if 1 Pod (ml/web, priority 0) made room; nothing else is touched.',
      );
      const room = page.getByRole('region', { name: 'Who would have to make room' });
      expect(await room.locator('td').allTextContents()).toEqual([
        ...['Pod ml/web', '0', '1', 'the gang does not fit with it'],
      ]);
      const places = page.getByRole('region', { name: 'Where its Pods would run' });
      expect(await places.locator('td').allTextContents()).toEqual(['ml/train-10-0', 'node-1']);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('combobox', { name: 'as planned by' }).selectOption('kube-scheduler 1.36');
      await room.waitFor({ state: 'detached' });
      await button.press('Enter');
      await page.getByText(', as planned by kube-scheduler 1.36; nothing was changed.').waitFor();
      await room.waitFor();
      dashboard.set([someGang('train-10', { phase: 'Running' })]);
      await button.waitFor({ state: 'detached' });
      expect(opened.complaints).toEqual([expect.stringContaining('status of 502')]);
    });

    test('the key of the search works on the page of a gang, too, and what is typed at once is not lost', async () => {
      const page = await open(FEW);
      await shows(page, '3 of 3 gangs');
      await page.getByRole('link', { name: 'ml/train-10' }).click();
      await page.getByRole('heading', { name: 'ml/train-10' }).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('done');
      await shows(page, '1 of 3 gangs');
    });

    test('a browser without the token, and one whose dashboard has ended, are told what to do', async () => {
      const page = await open(FEW);
      await shows(page, '3 of 3 gangs');
      const stranger = await watchedPage(browser);
      await stranger.page.goto(`http://127.0.0.1:${dashboard.port}/`);
      const status = stranger.page.getByRole('status').filter({ hasText: 'token' });
      await status.waitFor();
      expect(await status.innerText()).toBe(
        'this browser has not opened the address with the token that muster dashboard printed. End muster dashboard, start it again, and open the address that it prints.',
      );
      await stranger.context.close();
      await dashboard.close();
      await page.getByRole('status').filter({ hasText: 'muster dashboard has ended.' }).waitFor();
    });

    test.each([1280, 400])('names and reasons of any kind are text, at %d pixels', async (width) => {
      const hostile = [
        '<script>window.owned=1</script>',
        '<img src=x onerror="window.owned=1">',
        '\u202egnp.exe',
        'x'.repeat(253),
      ];
      const gangs = hostile.map((why, index) => someGang(hostile[index] ?? '', { why }));
      const page = await open(gangs, { viewport: { width, height: 700 } });
      await shows(page, '4 of 4 gangs');
      expect((await names(page)).sort()).toEqual(hostile.map((name) => `ml/${name}`).sort());
      const widest = (): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);
      expect(await widest()).toBeLessThanOrEqual(width);
      for (const name of hostile) {
        await page.evaluate((hash) => (location.hash = hash), `#/gangs/ml/${encodeURIComponent(name)}`);
        await page.getByRole('region', { name: 'Events' }).waitFor();
        expect(await page.locator('h1').textContent()).toBe(`ml/${name}`);
        expect(await widest()).toBeLessThanOrEqual(width);
      }
      expect(
        await page.evaluate(
          () =>
            'owned' in window ||
            document.querySelectorAll('img:not([src^="data:image/svg+xml,"]), main script').length > 0,
        ),
      ).toBe(false);
      expect(opened.complaints).toEqual([]);
    });

    test.each([
      { colorScheme: 'light', width: 1280 },
      { colorScheme: 'dark', width: 1280 },
      { colorScheme: 'light', width: 400 },
      { colorScheme: 'dark', width: 400 },
    ] as const)('axe finds nothing against WCAG 2.2 AA: %j', async ({ colorScheme, width }) => {
      const page = await open(FEW, { colorScheme, viewport: { width, height: 700 } });
      await shows(page, '3 of 3 gangs');
      expect(await accessibilityFaults(page)).toEqual([]);
      dashboard.set([], { since: 0, message: 'no answer' });
      for (const [hash, region] of [
        ['#/gangs/ml/train-2', 'Events'],
        ['#/queues', 'Queues of the fleet'],
        ['#/load', 'Namespaces'],
      ] as const) {
        await page.evaluate((to) => (location.hash = to), hash);
        await page.getByRole('region', { name: region }).waitFor();
        await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
        expect(await accessibilityFaults(page)).toEqual([]);
      }
    });

    test('10,000 gangs: few rows in the document, and little work for the first of them and for each frame', async () => {
      const gangs = Array.from({ length: 10_000 }, (_, index) =>
        someGang(`train-${index}`, { phase: index % 3 === 0 ? 'Running' : 'Pending' }),
      );
      const page = await open(gangs);
      await shows(page, '10000 of 10000 gangs');
      const used = await mainThreadMs(page);
      await page.addInitScript(() => {
        new MutationObserver((_, observer) => {
          if (document.querySelector('.row') === null) return;
          observer.disconnect();
          performance.mark('first rows');
        }).observe(document, { childList: true, subtree: true });
      });
      const firstRows: number[] = [];
      const work: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        await page.reload();
        await shows(page, '10000 of 10000 gangs');
        // Of this document: others on the machine delay its first rows, and are no work of its own.
        work.push(await used());
        firstRows.push(
          await page.evaluate(() => performance.getEntriesByName('first rows')[0]?.startTime ?? Infinity),
        );
      }
      const FRAMES = 200;
      const before = await used();
      const most = await page.evaluate(async (frames) => {
        const box = document.querySelector('.rows');
        let rows = 0;
        for (let frame = 0; frame < frames; frame += 1) {
          box?.scrollBy(0, 400);
          await new Promise(requestAnimationFrame);
          rows = Math.max(rows, document.querySelectorAll('.row').length);
        }
        return rows;
      }, FRAMES);
      const perFrame = ((await used()) - before) / FRAMES;
      if (inLength({ short: false, long: true }))
        process.stderr.write(
          `10,000 gangs: first rows after ${Math.round(Math.min(...firstRows))} ms, ${perFrame.toFixed(1)} ms of processor time a frame\n`,
        );
      expect(most).toBeLessThan(40);
      expect(perFrame).toBeLessThan(16);
      expect(Math.min(...work)).toBeLessThan(400);
    });
  },
);
