import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readInputs } from '../../../src/cli/input/input-files.ts';

const io = { readStdin: () => Promise.resolve('from stdin') };
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

const under = (names: readonly string[]): string[] => names.map((name) => join(root, name));

describe('inputs', () => {
  test('a folder is every manifest under it, in order; hidden ones, node_modules and loops are not', async () => {
    const inputs = await readInputs([root], io);
    expect(inputs.map(({ name }) => name)).toEqual(
      under(['D.YAML', 'a.yml', 'b.yaml', 'c.json', 'sub/a.yaml', 'sub/deep/x.yaml', 'sub/link.yaml']),
    );
    expect(inputs.at(-1)?.text).toBe('notes.txt');
  });

  test('a file that is named is read whatever its name, and each only once', async () => {
    const [hidden, notes] = under(['.hidden.yaml', 'notes.txt']) as [string, string];
    const inputs = await readInputs([hidden, '-', notes, hidden, '-'], io);
    expect(inputs).toEqual([
      { name: hidden, text: '.hidden.yaml' },
      { name: '<stdin>', text: 'from stdin' },
      { name: notes, text: 'notes.txt' },
    ]);
  });

  test.each([
    ['missing.yaml', /cannot read .*missing\.yaml: .*ENOENT/],
    ['empty', /cannot read .*empty: no \.yaml, \.yml or \.json file in this folder/],
    ['latin1.bin', /cannot read .*latin1\.bin: it is not UTF-8 text/],
  ])('%s is unreadable', async (name, message) => {
    await expect(readInputs(under([name]), io)).rejects.toMatchObject({
      code: 'INPUT_UNREADABLE',
      exitCode: 2,
      message: expect.stringMatching(message),
    });
  });
});
