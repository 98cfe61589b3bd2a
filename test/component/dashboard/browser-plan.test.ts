/** The button for a plan while Pods and the API server come and go, in a real browser; skipped without one. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { until } from '../../unit/tls/until.ts';
import { node, pod, priorityClass } from '../../unit/preemption/small-cluster.ts';
import { gangObject, PODS, WatchedApi } from '../cli/watched-api.ts';
import { cut, list, status } from '../kube/fault-server.ts';
import { chromiumPath, startBrowser, watchedPage, type WatchedPage } from './browser.ts';
import { StartedDashboard } from './started.ts';

const TRAIN = gangObject('train', 1, [['leader', 2, 'leader-0', 'leader-1']], true);
const GANG = { ...TRAIN, spec: { ...TRAIN.spec, priorityClassName: 'high' } };

/** A Pod of the gang; without a node it waits for one. */
function leader(index: number, version: number, on?: string) {
  const spec = { priorityClassName: 'high' };
  const given = { namespace: 'ml', name: `leader-${index}`, gang: 'train', group: 'leader', cpu: 2, spec };
  const made = pod(on === undefined ? given : { ...given, on });
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  return {
    ...made,
    metadata: {
      ...(made['metadata'] as object),
      uid: `uid-${index}-${version}`,
      resourceVersion: String(version),
    },
    status: on === undefined ? { phase: 'Pending' } : ready,
  };
}
const web = pod({ namespace: 'shop', name: 'web', on: 'n1', cpu: 2, prio: 10 });

const WEB = '(shop/web, priority 10) made room; nothing else is touched.';

let browser: Browser;
let api: WatchedApi;
let started: StartedDashboard;
let opened: WatchedPage;

const inBrowser = chromiumPath === undefined ? describe.skip : describe;

inBrowser('the button for a plan, in a browser (skipped where there is no chromium)', () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    api = await WatchedApi.start();
  }, 60_000);
  afterEach(async () => {
    await opened.context.close();
    expect(await started.end()).toBe(0);
    await api.close();
  });

  /** What every list tells from now on. */
  function has(pods: readonly object[]): void {
    const lists = new Map<string, readonly object[]>([
      ['podgangs', [GANG]],
      ['pods', [...pods, web]],
      ['nodes', [node('n1', 4)]],
      ['priorityclasses', [priorityClass('high', 100)]],
    ]);
    api.server.standing = (line) => {
      if (line.includes('watch=1') || line.startsWith('GET /version')) return undefined;
      if (line.startsWith(PODS)) return list(1, pods);
      const plural = /\/(\w+)\?/.exec(line)?.[1];
      return plural === undefined || plural === 'podgroups'
        ? status(404, 'unknown')
        : list(1, lists.get(plural) ?? []);
    };
  }

  /** The page of the gang. */
  async function open(): Promise<{ readonly page: Page; readonly button: Locator }> {
    api.accepts();
    started = new StartedDashboard(api);
    await until('the watches', () => api.watched);
    opened = await watchedPage(browser);
    const { page } = opened;
    await page.goto(await started.address());
    await page.getByRole('link', { name: 'ml/train' }).click();
    await page.getByRole('region', { name: 'Pods' }).waitFor();
    return { page, button: page.getByRole('button', { name: 'Would it fit now?' }) };
  }

  test('comes when a gang that ran is torn, plans for the Pod that was lost, and goes once that is bound', async () => {
    has([leader(0, 1, 'n1'), leader(1, 1, 'n1')]);
    const { page, button } = await open();
    expect(await button.count()).toBe(0);

    has([leader(1, 1, 'n1')]);
    api.tell(PODS, 'DELETED', leader(0, 2, 'n1'));
    await page.waitForFunction(() => document.querySelectorAll('[aria-label="Pods"] tbody tr').length === 1);
    expect(await button.count()).toBe(0);
    has([leader(0, 3), leader(1, 1, 'n1')]);
    api.tell(PODS, 'ADDED', leader(0, 3));
    await button.press('Enter');
    await page.getByText(`Gang ml/train (priority 100) would fit if 1 Pod ${WEB}`).waitFor();

    has([leader(0, 4, 'n1'), leader(1, 1, 'n1')]);
    api.tell(PODS, 'MODIFIED', leader(0, 4, 'n1'));
    await button.waitFor({ state: 'detached' });
  });

  test('tries another minimum, which is written into no gang', async () => {
    has([leader(0, 1), leader(1, 1)]);
    const { page, button } = await open();
    await page.getByText('With another minimum').press('Enter');
    const minimum = page.getByLabel('minReplicas of leader');
    expect(await minimum.inputValue()).toBe('2');
    await minimum.fill('1');
    await button.press('Enter');
    await page
      .getByText('Gang ml/train with minReplicas 1 of leader (priority 100) fits as it is.')
      .waitFor();
    await minimum.fill('');
    await button.press('Enter');
    await page.getByText(`Gang ml/train (priority 100) would fit if 1 Pod ${WEB}`).waitFor();
  });

  test('says that the API server is away, and plans again once it is back', async () => {
    has([leader(0, 1), leader(1, 1)]);
    const { page, button } = await open();
    api.server.standing = () => cut;
    api.server.cutAll();
    const notice = page.getByRole('status').filter({ hasText: 'Not up to date since' });
    await notice.waitFor();
    await button.press('Enter');
    await page.getByText(/^list nodes: no answer from .*\. Check that the API server runs/).waitFor();

    has([leader(0, 1), leader(1, 1)]);
    api.accepts();
    await notice.waitFor({ state: 'detached' });
    await button.press('Enter');
    await page.getByText(`Gang ml/train (priority 100) would fit if 1 Pod ${WEB}`).waitFor();
  });
});
