import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../errors.ts';
import type { CliIo } from '../output/io.ts';
import { readObjects, type InputText } from './documents.ts';
import type { SourceObject } from './source-object.ts';
import type { InputFault } from './input-fault.ts';

type Tell = (fault: InputFault) => void;

const MANIFEST = /\.(?:ya?ml|json)$/i;

/**
 * Yields the objects of everything that -f names. An input without objects is a fault: a pipeline whose templates rendered
 * nothing must not pass.
 */
export async function* readAll(
  paths: readonly string[],
  io: Pick<CliIo, 'readStdin'>,
  bad: Tell,
): AsyncGenerator<SourceObject> {
  yield* (await inputTexts(paths, io)).objects(bad);
}

/** The texts of everything that -f names, read once, so that their objects can be gone through more than once. */
export interface InputTexts {
  /** The objects, parsed one document at a time. @param bad called for what cannot be read, in the order of the input */
  objects(bad: Tell): Generator<SourceObject>;
  /** The objects of the documents in whose text one of the words stands, whatever is wrong with the others. */
  naming(words: readonly string[]): Generator<SourceObject>;
}

export async function inputTexts(
  paths: readonly string[],
  io: Pick<CliIo, 'readStdin'>,
): Promise<InputTexts> {
  const read: (InputText | InputFault)[] = [];
  for await (const input of readInputs(paths, io, (fault) => read.push(fault))) read.push(input);
  const inputs = read.filter((one) => 'text' in one);
  return {
    *objects(bad) {
      let sound = true;
      let found = false;
      const tell: Tell = (fault) => {
        sound = false;
        bad(fault);
      };
      for (const one of read) {
        if (!('text' in one)) tell(one);
        else
          for (const object of readObjects(one, tell)) {
            found = true;
            yield object;
          }
      }
      if (found || !sound) return;
      const message = 'there is no object in it';
      const fix = 'give manifests with at least one object after -f';
      const file = inputs.map(({ name }) => name).join(', ');
      bad({ file, line: 0, column: 0, message, fix });
    },
    *naming(words) {
      // An escape may spell a word in another way.
      const wanted = [...words, '\\'];
      const holds = (text: string): boolean => wanted.some((word) => text.includes(word));
      for (const input of inputs) yield* readObjects(input, () => undefined, holds);
    },
  };
}

/** Texts of files, of folders (every manifest below them, sorted by name) and of `-`, standard input. */
export async function* readInputs(
  paths: readonly string[],
  io: Pick<CliIo, 'readStdin'>,
  bad: Tell,
): AsyncGenerator<InputText> {
  const seen = new Set<string>();
  for (const path of paths) {
    for (const file of path === '-' ? ['-'] : await filesOf(path, bad)) {
      // A file that `-f dir -f dir/pod.yaml` names twice is read once, as is standard input.
      if (seen.has(file)) continue;
      seen.add(file);
      const name = file === '-' ? '<stdin>' : file;
      const text = await readText(name, () => (file === '-' ? io.readStdin() : readFile(file)), bad);
      if (text !== undefined) yield { name, text };
    }
  }
}

async function filesOf(path: string, bad: Tell): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    let whole = true;
    const files = await manifestsUnder(path, (fault) => {
      whole = false;
      bad(fault);
    });
    if (files.length === 0 && whole)
      bad(unread(path, 'there is no .yaml, .yml or .json file in this folder'));
    return files;
  } catch (cause) {
    bad(unread(path, messageOf(cause)));
    return [];
  }
}

/** Hidden folders (`.git`, `..data` of a mounted volume) and node_modules are skipped. */
async function manifestsUnder(root: string, bad: Tell): Promise<string[]> {
  const files: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const at = folder;
    const entries = await readdir(at, { withFileTypes: true }).catch((cause: unknown) => {
      bad(unread(at, messageOf(cause)));
      return [];
    });
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      // A link to a folder is not followed, since it may lead back here.
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

async function readText(file: string, read: () => Promise<Buffer>, bad: Tell): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await read());
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    bad(unread(file, code === NOT_UTF_8 ? 'it is not UTF-8 text' : messageOf(cause)));
    return undefined;
  }
}

const unread = (file: string, why: string): InputFault => ({
  file,
  line: 0,
  column: 0,
  message: `cannot be read: ${why}`,
  fix: /^https?:\/\//i.test(file)
    ? `fetch it first: curl -sSfL ${file} | muster … -f -`
    : 'give files or folders with YAML or JSON after -f, or - for standard input',
});
