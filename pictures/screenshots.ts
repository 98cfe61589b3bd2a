import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PICTURES_FOLDER } from './pictures.ts';

/** Pictures of the page of `muster dashboard`, by their file; pixels differ with a machine's letters, so no test compares them. */
export const SCREENSHOTS = {
  'dashboard-light.png': {
    colorScheme: 'light',
    hash: '#/gangs',
    shows: 'ml/serve-green',
    height: 673,
    alt: 'The list of gangs: what waits comes first, each with its reason',
  },
  'dashboard-dark.png': {
    colorScheme: 'dark',
    hash: '#/gangs/ml/train',
    shows: 'Events',
    height: 1_152,
    alt: 'A gang, dark: its groups, its Pods, and each step of its life with what it waited for, as a table and a chart',
  },
} as const;

/** The lines of docs/reference/cli.md that show them. */
export const screenshotLines = (): string =>
  Object.entries(SCREENSHOTS)
    .map(([file, { alt }]) => `![${alt}](../pictures/${file})\n`)
    .join('');

/** Takes them with the machine's chromium. @returns whether there is one */
export async function takeScreenshots(): Promise<boolean> {
  const { chromiumPath, startBrowser } = await import('../test/component/dashboard/browser.ts');
  if (chromiumPath === undefined) return false;
  const { DashboardOfGangs } = await import('../test/component/dashboard/some-gangs.ts');
  const { SCENE_DETAIL, SCENE_GANGS, SCENE_TIME } = await import('./dashboard-scenes.ts');
  const browser = await startBrowser();
  try {
    for (const [file, { colorScheme, hash, shows, height }] of Object.entries(SCREENSHOTS)) {
      const server = await DashboardOfGangs.start(SCENE_GANGS);
      server.detail = () => SCENE_DETAIL;
      try {
        const page = await browser.newPage({
          ...{ colorScheme, viewport: { width: 900, height }, locale: 'en-GB', timezoneId: 'UTC' },
        });
        await page.clock.setFixedTime(SCENE_TIME);
        await page.goto(`${server.address}${hash}`);
        await page.getByText(shows, { exact: true }).first().waitFor();
        await writeFile(join(PICTURES_FOLDER, file), await page.screenshot({ animations: 'disabled' }));
        await page.close();
      } finally {
        await server.close();
      }
    }
  } finally {
    await browser.close();
  }
  return true;
}
