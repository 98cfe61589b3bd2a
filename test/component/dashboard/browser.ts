import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

/** Where Debian, Fedora, Arch and macOS have it. */
const INSTALLED = [
  ...['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** A Chromium of this machine; undefined where there is none. */
export const chromiumPath = [process.env['CHROMIUM'] ?? '', ...INSTALLED].find((path) => existsSync(path));

export const startBrowser = (): Promise<Browser> =>
  // Containers have no namespaces for a sandbox, and all pages are Muster's own.
  chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox', '--disable-gpu'] });

/** A page, and what went wrong or elsewhere in it. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors, and messages of the console, among them what the content policy has refused. */
  readonly complaints: string[];
  /** Origins that were asked. */
  readonly origins: Set<string>;
}

export async function watchedPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  return { page, context, complaints, origins };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Axe {
  run(
    options: object,
  ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

/** What axe finds against WCAG 2.2 AA, in words. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const { violations } = await axe.run({ runOnly: tags });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}: ${nodes[0]?.failureSummary ?? ''}`,
    );
  });
}

/** Milliseconds of processor time of the page's main thread so far: others on the machine do not count. */
export async function mainThreadMs(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
  };
}
