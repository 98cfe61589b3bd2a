import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * A folder and those above it, where they are missing. Not by `recursive` of `mkdir`: where the file system refuses in its
 * own way, as /proc does, that one tries for ever.
 * @throws Error of the file system
 */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path);
  const there = await stat(folder).catch(() => undefined);
  if (there?.isDirectory() === true) return;
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  await mkdir(folder);
}
