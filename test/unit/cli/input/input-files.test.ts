import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { InputText } from '../../../../src/cli/input/documents.ts';
import { inputTexts, readInputs } from '../../../../src/cli/input/input-files.ts';
import { unreadable, type InputFault } from '../../../../src/cli/input/input-fault.ts';

const io = { readStdin: () => Promise.resolve(Buffer.from('from stdin')) };
let root = '';

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-inputs-'));
  const files = [
    'b.yaml',
    'a.yml',
    'c.json',
    'D.YAML',
    'notes.txt',
    '.hidden.yaml',
    'sub/deep/x.yaml',
    'sub/a.yaml',
    'node_modules/pkg/p.yaml',
    '.git/config.yaml',
    'empty/readme.md',
  ];
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), file);
  }
  await symlink(root, join(root, 'sub/loop'));
  await symlink(join(root, 'notes.txt'), join(root, 'sub/link.yaml'));
  await symlink(join(root, 'nowhere'), join(root, 'sub/dangling.yaml'));
  await writeFile(join(root, 'latin1.bin'), Buffer.from([0x61, 0xe9, 0x62]));
});
afterAll(() => rm(root, { recursive: true }));

async function read(
  paths: readonly string[],
  from: Parameters<typeof readInputs>[1] = io,
): Promise<{ inputs: InputText[]; faults: InputFault[] }> {
  const faults: InputFault[] = [];
  const inputs: InputText[] = [];
  for await (const input of readInputs(paths, from, (fault) => faults.push(fault))) inputs.push(input);
  return { inputs, faults };
}

const under = (names: readonly string[]): string[] => names.map((name) => join(root, name));

describe('inputs', () => {
  test('a folder is every manifest under it, in order; hidden ones, node_modules and loops are not', async () => {
    const { inputs } = await read([root]);
    expect(inputs.map(({ name }) => name)).toEqual(
      under(['D.YAML', 'a.yml', 'b.yaml', 'c.json', 'sub/a.yaml', 'sub/deep/x.yaml', 'sub/link.yaml']),
    );
    expect(inputs.at(-1)?.text).toBe('notes.txt');
  });

  test('standard input is read as a file is: without a mark of its encoding, and only as UTF-8', async () => {
    const given = (bytes: number[]) => ({ readStdin: () => Promise.resolve(Buffer.from(bytes)) });
    expect((await read(['-'], given([0xef, 0xbb, 0xbf, 0x61]))).inputs).toEqual([
      { name: '<stdin>', text: 'a' },
    ]);
    const { inputs, faults } = await read(['-'], given([0x61, 0xe9, 0x62]));
    expect(inputs).toEqual([]);
    expect(faults).toMatchObject([{ file: '<stdin>', message: 'cannot be read: it is not UTF-8 text' }]);
    const folder = {
      readStdin: () => Promise.reject(new Error('EISDIR: illegal operation on a directory, read')),
    };
    expect((await read(['-'], folder)).faults).toMatchObject([{ message: expect.stringMatching(/EISDIR/) }]);
  });

  test('a file that is named is read whatever its name, and each only once', async () => {
    const [hidden, notes] = under(['.hidden.yaml', 'notes.txt']) as [string, string];
    const { inputs } = await read([hidden, '-', notes, hidden, '-']);
    expect(inputs).toEqual([
      { name: hidden, text: '.hidden.yaml' },
      { name: '<stdin>', text: 'from stdin' },
      { name: notes, text: 'notes.txt' },
    ]);
  });

  test('a folder that may not be read is told of once', async () => {
    const locked = await mkdtemp(join(tmpdir(), 'muster-locked-'));
    await chmod(locked, 0);
    // Root may read everything, so it is somebody else who looks: he gets as far as the folder.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) {
      await chmod(tmpdir(), 0o711);
      process.seteuid?.(65_534);
    }
    const { faults } = await read([locked]).finally(() => {
      if (isRoot) process.seteuid?.(0);
    });
    await rm(locked, { recursive: true });
    expect(faults).toMatchObject([{ file: locked, message: expect.stringMatching(/EACCES.*scandir/) }]);
  });

  test.each([
    ['missing.yaml', /missing\.yaml: error: cannot be read: .*ENOENT/],
    ['empty', /empty: error: cannot be read: there is no \.yaml, \.yml or \.json file in this folder/],
    ['latin1.bin', /latin1\.bin: error: cannot be read: it is not UTF-8 text/],
  ])('%s is unreadable', async (name, message) => {
    const good = join(root, 'b.yaml');
    const { inputs, faults } = await read([...under([name]), good]);
    expect(inputs).toEqual([{ name: good, text: 'b.yaml' }]);
    expect(faults).toHaveLength(1);
    const error = unreadable(faults);
    expect(error).toMatchObject({ code: 'INPUT_UNREADABLE', exitCode: 2 });
    expect(error.message).toMatch(message);
  });
});

describe('texts that are gone through twice', () => {
  const stdin = '---\nkind: Pod\n---\nkind: PodGang\n---\n"kind": "Pod\\x47ang"\n---\nkind: [\n';
  const given = { readStdin: () => Promise.resolve(Buffer.from(stdin)) };

  test('first for those that name a word, and then for all, with what is wrong in the order of the input', async () => {
    const texts = await inputTexts(['nowhere.yaml', '-'], given);
    const kinds = (all: Iterable<{ readonly object: object }>) =>
      Array.from(all, ({ object }) => (object as { kind: string }).kind);
    expect(kinds(texts.naming(['PodGang']))).toEqual(['PodGang', 'PodGang']);
    const faults: InputFault[] = [];
    expect(kinds(texts.objects((fault) => faults.push(fault)))).toEqual(['Pod', 'PodGang', 'PodGang']);
    expect(faults.map(({ file, line }) => [file, line])).toEqual([
      ['nowhere.yaml', 0],
      ['<stdin>', 9],
    ]);
  });
});
