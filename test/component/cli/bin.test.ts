/** `bin/muster`, which is there before anything is built. */
import { execFile, spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

let checkout = '';
beforeEach(async () => {
  checkout = await realpath(await mkdtemp(join(tmpdir(), 'muster-bin-')));
  await cp('bin', join(checkout, 'bin'), { recursive: true });
  // As in the checkout: what is built are modules.
  await writeFile(join(checkout, 'package.json'), '{"type": "module"}');
});
afterEach(() => rm(checkout, { recursive: true }));

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const ran = (program: string, ...args: string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(program, args, { cwd: tmpdir() }, (_, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
  });

async function build(text: string): Promise<void> {
  await mkdir(join(checkout, 'dist/src'), { recursive: true });
  await writeFile(join(checkout, 'dist/src/main.js'), text);
}

const SAYS = 'console.log(JSON.stringify(process.argv.slice(1))); process.exitCode = 4;';

describe('bin/muster', () => {
  test('says how it is built where it is not', async () => {
    expect(await ran(join(checkout, 'bin/muster'), 'version')).toEqual({
      code: 2,
      out: '',
      err: `error[NOT_BUILT]: this checkout of Muster is not built: there is no dist/src/main.js\nfix: in ${checkout}: npm ci && npm run build\n`,
    });
  });

  test('runs what is built, under the name that it was called by', async () => {
    await build(SAYS);
    const plugin = join(checkout, 'kubectl-muster');
    await symlink(join(checkout, 'bin/muster'), plugin);
    for (const program of [join(checkout, 'bin/muster'), plugin]) {
      const { code, out, err } = await ran(program, 'review', '-f', 'a b');
      expect([code, err]).toEqual([4, '']);
      expect(JSON.parse(out)).toEqual([program, 'review', '-f', 'a b']);
    }
  });

  describe('where the Node of the machine is too old', () => {
    const own = (): string => join(checkout, 'node_modules/node/bin/node');
    beforeEach(async () => {
      await build('throw new Error("not by this Node");');
      await mkdir(join(checkout, 'node_modules/node/bin'), { recursive: true });
      const text = `exec node -e 'console.log(process.argv.slice(1).join(" ")); setTimeout(() => process.exit(5), WAIT)' -- "$@"`;
      for (const [name, wait] of [
        ['quick', 0],
        ['slow', 60_000],
      ] as const)
        await writeFile(`${own()}-${name}`, `#!/bin/sh\n${text.replace('WAIT', String(wait))}\n`, {
          mode: 0o755,
        });
      const program = join(checkout, 'bin/muster');
      const old = (await readFile(program, 'utf8')).replace('const NEEDED = 26;', 'const NEEDED = 999;');
      await writeFile(program, old);
      await chmod(program, 0o755);
    });

    test('it takes that of the checkout, with its exit code', async () => {
      await cp(`${own()}-quick`, own());
      const program = join(checkout, 'bin/muster');
      expect(await ran(program, 'plan', '-f')).toEqual({ code: 5, out: `${program} plan -f\n`, err: '' });
    });

    test('and ends as that ends', async () => {
      await cp(`${own()}-slow`, own());
      const child = spawn(join(checkout, 'bin/muster'), ['serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])));
      await new Promise((resolve) => child.stdout.once('data', resolve));
      child.kill('SIGTERM');
      expect(await ended).toEqual([null, 'SIGTERM']);
    });
  });

  test('is in the package', async () => {
    const { out } = await new Promise<Ran>((resolve) => {
      execFile('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], (_, stdout, err) =>
        resolve({ code: 0, out: stdout, err }),
      );
    });
    const [packed] = JSON.parse(out) as { files: { path: string; mode: number }[] }[];
    const files = new Map((packed?.files ?? []).map(({ path, mode }) => [path, mode]));
    expect([files.get('bin/muster'), files.has('bin/package.json')]).toEqual([0o755, true]);
  });
});
