import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, MusterError } from '../../errors.ts';
import type { CliIo } from '../output/io.ts';

/** One input as text, with the name that messages call it by. */
export interface InputText {
  readonly name: string;
  readonly text: string;
}

const MANIFEST = /\.(?:ya?ml|json)$/i;

/**
 * The texts of files, of folders (every manifest under them, in order of their names) and of `-`, standard input.
 * @throws MusterError INPUT_UNREADABLE
 */
export async function readInputs(
  paths: readonly string[],
  io: Pick<CliIo, 'readStdin'>,
): Promise<InputText[]> {
  const inputs: InputText[] = [];
  const seen = new Set<string>();
  for (const path of paths) {
    for (const file of path === '-' ? ['-'] : await filesOf(path)) {
      // `-f dir -f dir/pod.yaml` means that Pod once, and standard input can be read but once.
      if (seen.has(file)) continue;
      seen.add(file);
      inputs.push(
        file === '-'
          ? { name: '<stdin>', text: await io.readStdin() }
          : { name: file, text: await readText(file) },
      );
    }
  }
  return inputs;
}

async function filesOf(path: string): Promise<string[]> {
  const stats = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, messageOf(cause), cause);
  });
  if (!stats.isDirectory()) return [path];
  const files = await manifestsUnder(path);
  if (files.length === 0) throw unreadable(path, 'no .yaml, .yml or .json file in this folder');
  return files;
}

/** Hidden folders (`.git`, `..data` of a mounted volume) and node_modules hold nobody's manifests. */
async function manifestsUnder(root: string): Promise<string[]> {
  const files: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
      throw unreadable(folder ?? root, messageOf(cause), cause);
    });
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      // A link to a folder is not followed: it may lead back here.
      if (entry.isDirectory()) folders.push(path);
      else if (MANIFEST.test(entry.name) && (entry.isFile() || (await leadsToFile(path)))) files.push(path);
    }
  }
  return files.sort((a, b) => (a < b ? -1 : 1));
}

const leadsToFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );

const NOT_UTF_8 = 'ERR_ENCODING_INVALID_ENCODED_DATA';

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw unreadable(file, code === NOT_UTF_8 ? 'it is not UTF-8 text' : messageOf(cause), cause);
  }
}

const unreadable = (name: string, why: string, cause?: unknown): MusterError =>
  new MusterError(
    'INPUT_UNREADABLE',
    `cannot read ${name}: ${why}`,
    'give files or folders with YAML or JSON after -f, or - for standard input',
    { cause },
  );
