/** `npm run docs:pictures` draws docs/pictures anew, takes those of the page, and writes the line about speed, from what the pages and sources say. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PICTURES, PICTURES_FOLDER, SPEED_PAGES, withSpeed } from './pictures.ts';
import { SCREENSHOTS, takeScreenshots } from './screenshots.ts';

for (const [name, draw] of Object.entries(PICTURES)) writeFileSync(join(PICTURES_FOLDER, name), draw());
for (const page of SPEED_PAGES) {
  const file = join(import.meta.dirname, '..', page);
  writeFileSync(file, withSpeed(readFileSync(file, 'utf8')));
}
if (!(await takeScreenshots()))
  process.stderr.write(
    `${Object.keys(SCREENSHOTS).join(' and ')} stay as they are: there is no chromium here (apt install chromium, or name it in $CHROMIUM)\n`,
  );
