import { basename } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';

/** Lines by the name of the place that they belong to, `<!-- bench: NAME -->` to `<!-- end -->`. */
export type Places = Iterable<readonly [name: string, lines: readonly string[]]>;

/** @throws where the page lacks one of the places */
export function withPlaces(page: string, file: string, places: Places): string {
  let filled = page;
  for (const [name, lines] of places) {
    const place = new RegExp(`(<!-- bench: ${name} -->\n)[^]*?(<!-- end -->)`);
    if (!place.test(filled)) throw new Error(`docs/${basename(file)} has no place for: ${name}`);
    filled = filled.replace(
      place,
      (_, begin: string, end: string) => `${begin}\n${lines.join('\n')}\n\n${end}`,
    );
  }
  return filled;
}

/** Writes a page anew by what it is now. @throws as `change` does, and then leaves the page as it is */
export const rewritePage = (file: string, change: (page: string) => string): void =>
  writeFileSync(file, change(readFileSync(file, 'utf8')));
