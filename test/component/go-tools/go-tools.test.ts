import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateGoTool } from '../../cluster/go-tools/go-tools.ts';

const before = { ...process.env };
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'go-tools-'));
  process.env['PATH'] = folder;
  process.env['XDG_CACHE_HOME'] = join(folder, 'cache');
  delete process.env['TESTING_MUSTER_HELM'];
});

afterEach(() => void (process.env = { ...before }));

test('the program that the variable names comes before that on the PATH, which comes before that of the cache', async () => {
  const cached = await program('cache/muster/go-tools/helm-v4.3.1/helm', 'v4.3.1');
  expect(await located()).toBe(cached);
  const installed = await program('helm', 'v4.3.0+g1a2b3c4');
  expect(await located()).toBe(installed);
  const named = await program('elsewhere', 'v4.3.1');
  process.env['TESTING_MUSTER_HELM'] = named;
  expect(await located()).toBe(named);
});

test('a program of another version on the PATH is passed over, one that the variable names is an error', async () => {
  const cached = await program('cache/muster/go-tools/helm-v4.3.1/helm', 'v4.3.1');
  const other = await program('helm', 'v3.19.0');
  expect(await located()).toBe(cached);
  process.env['TESTING_MUSTER_HELM'] = other;
  await expect(located()).rejects.toThrow(
    `no helm v4.3.1: TESTING_MUSTER_HELM=${other} is not it (its version: v3.19.0)`,
  );
});

test('what is missing is said with where was looked and how to get it', async () => {
  const said = [
    'no helm v4.3.1: `go` is not on the PATH',
    `  looked in: TESTING_MUSTER_HELM (not set), the PATH, ${folder}/cache/muster/go-tools/helm-v4.3.1`,
    '  to get it: with Go 1.26 or newer on the PATH run `npm run go-tools helm` (about 3 minutes, once),',
    '  or let TESTING_MUSTER_HELM name a program of that version',
  ];
  await expect(located()).rejects.toThrow(said.join('\n'));
  await program('go', 'go version');
  said[0] = 'no helm v4.3.1: it has not been built yet';
  await expect(located()).rejects.toThrow(said.join('\n'));
});

const located = (): Promise<string> => locateGoTool('helm', { build: false });

/** A program of the folder that says its version. */
async function program(name: string, version: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho ${version}\n`);
  await chmod(path, 0o755);
  return path;
}
