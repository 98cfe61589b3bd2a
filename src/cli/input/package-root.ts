import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder with package.json: two up from the source, three from the build, so it is looked for from the file `from`
 * upwards. undefined where there is none.
 */
export function packageRoot(from: string = import.meta.url): string | undefined {
  let folder = dirname(fileURLToPath(from));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  return folder;
}
