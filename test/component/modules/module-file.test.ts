/** Ways to have other code run than what was named, and what else a path may lead to. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MODULE_LIMITS } from '../../../src/modules/process-limits.ts';
import { decodeBackendFacts } from '../../../src/modules/decode.ts';
import { readModule, type ModuleFile } from '../../../src/modules/module-file.ts';
import { ModuleProcess } from '../../../src/modules/module-process.ts';
import { moduleText } from './hosting.ts';

const named = (scheduler: string, before = ''): string => moduleText(`schedulerName: '${scheduler}'`, before);
const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-paths-'));
  await mkdir(join(folder, 'inner'));
  await writeFile(join(folder, 'fs'), named('not-fs'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  await symlink('/dev/zero', join(folder, 'zero.mjs'));
  await symlink('round.mjs', join(folder, 'round.mjs'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const read = (module: string, integrity?: string): Promise<ModuleFile> =>
  readModule({ module, integrity, folder, field: 'module' });

/** The scheduler that a module names once it runs. */
async function runs(file: ModuleFile): Promise<string> {
  const process = new ModuleProcess(
    file.pinned ? [] : [file.root],
    { ended: () => undefined, wrote: () => undefined },
    MODULE_LIMITS,
  );
  try {
    const settings = { config: {}, topology: { enabled: false, keys: [] } };
    return decodeBackendFacts(await process.call('load', { file, field: 'module', settings })).schedulerName;
  } finally {
    process.end('enough');
  }
}

describe('what was read is what is run', () => {
  test('where the file is another by then', async () => {
    await writeFile(join(folder, 'swapped.mjs'), named('first'));
    const file = await read('./swapped.mjs', hashOf(named('first')));
    await writeFile(join(folder, 'swapped.mjs'), named('second'));
    expect(await runs(file)).toBe('first');
    await expect(read('./swapped.mjs', hashOf(named('first')))).rejects.toMatchObject({
      code: 'BACKEND_MODULE_INTEGRITY',
    });
  });

  test('where a link leads elsewhere by then, as those of a ConfigMap do', async () => {
    for (const version of ['one', 'two']) {
      await mkdir(join(folder, `..${version}`));
      await writeFile(join(folder, `..${version}/line.mjs`), named(version));
    }
    await symlink('..one', join(folder, '..data'));
    await symlink('..data/line.mjs', join(folder, 'line.mjs'));
    const file = await read('./line.mjs');
    await symlink('..two', join(folder, '..next'));
    await rename(join(folder, '..next'), join(folder, '..data'));
    expect(await runs(file)).toBe('one');
    expect(await runs(await read('./line.mjs'))).toBe('two');
  });
});

describe('with its hash a module is one file', () => {
  test.each([
    ['an import', "import './other.mjs';"],
    ['an import by a URL', "import 'data:text/javascript,globalThis.x=1';"],
    ['a later import', "await import('./other.mjs');"],
    [
      'a require',
      "import { createRequire } from 'node:module'; createRequire(import.meta.url)('./other.cjs');",
    ],
    [
      'an import that another URL makes',
      "import { createRequire } from 'node:module'; createRequire(new URL('./elsewhere.mjs', import.meta.url))('./other.cjs');",
    ],
  ])('%s of what the hash does not speak for fails', async (_what, before) => {
    await writeFile(join(folder, 'other.mjs'), '');
    await writeFile(join(folder, 'other.cjs'), '');
    const text = named('pinned', before);
    await writeFile(join(folder, 'pinned.mjs'), text);
    expect(await runs(await read('./pinned.mjs'))).toBe('pinned');
    await expect(read('./pinned.mjs', hashOf(text)).then(runs)).rejects.toThrow(
      /its integrity does not speak: bundle it|Cannot find module|restricted/,
    );
  });

  test('what comes with Node and with Muster is there', async () => {
    const text = named('pinned', "import 'node:crypto'; import { rules } from 'muster'; void rules;");
    await writeFile(join(folder, 'pinned.mjs'), text);
    expect(await runs(await read('./pinned.mjs', hashOf(text)))).toBe('pinned');
  });
});

test.each([
  [
    'data:text/javascript,export default 1',
    'is no path that begins with "." or "/", and no name of a package',
  ],
  ['http://127.0.0.1/line.mjs', 'is no path'],
  ['file:///etc/passwd', 'is no path'],
  ['node:fs', 'is no path'],
  ['fs', 'is no path'],
  ['fs/promises', 'is no path'],
  ['#line', 'is no path'],
  ['line/../../secret.mjs', 'is no path'],
  ['line/./a.mjs', 'is no path'],
  ['@team/../secret.mjs', 'is no path'],
  ['..\\secret.mjs', 'cannot read'],
  ['.', 'it is no file'],
  ['./inner', 'it is no file'],
  ['./pipe', 'it is no file'],
  ['./zero.mjs', 'it is no file'],
  ['./round.mjs', 'ELOOP'],
  ['./gone.mjs', 'ENOENT'],
  ['./a\0b', 'cannot read'],
])('%j: it says what is wrong, and runs nothing', async (module, says) => {
  await expect(read(module)).rejects.toMatchObject({
    code: 'BACKEND_MODULE_MISSING',
    message: expect.stringContaining(says),
  });
});

test('a file that has no end in reason is not read', async () => {
  await writeFile(join(folder, 'large.mjs'), Buffer.alloc(17 * 1024 * 1024));
  await expect(read('./large.mjs')).rejects.toThrow('16777216 at most are read');
});

test.each([
  ['m.mts', 'let a: number;', 'module-typescript'],
  ['c.cts', 'let a: number;', 'commonjs-typescript'],
  ['m.mjs', '', 'module'],
  ['c.cjs', '', 'commonjs'],
  ['by-content.js', 'export const a = 1;', 'module'],
  ['by-content-too.js', 'exports.a = 1;', 'commonjs'],
  ['by-content.ts', 'export const a: number = 1;', 'module-typescript'],
  ['by-content-too.ts', 'const a: number = 1; exports.a = a;', 'commonjs-typescript'],
  ['broken.ts', 'enum', 'module-typescript'],
  ['typed/by-package.js', 'const a = 1;', 'module'],
])('%s is read as Node would: %s', async (file, text, format) => {
  await mkdir(join(folder, 'typed'), { recursive: true });
  await writeFile(join(folder, 'typed/package.json'), '{"type":"module"}');
  await writeFile(join(folder, file), text);
  expect(await read(`./${file}`)).toMatchObject({ format });
});
