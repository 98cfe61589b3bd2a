import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The program as a shell starts it. */
function muster(args: readonly string[], stdin = ''): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['src/main.ts', ...args], { cwd: root });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    child.stderr.on('data', (chunk) => (err += String(chunk)));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
    child.stdin.on('error', () => undefined); // it may end without reading
    child.stdin.end(stdin);
  });
}

describe('exit codes of the process', () => {
  test.each<[string[], number, RegExp, RegExp]>([
    [[], 0, /^Usage: muster/, /^$/],
    [['--help'], 0, /^Usage: muster/, /^$/],
    [['version'], 0, /^muster \d/, /^$/],
    [['review', '-f', 'docs/examples/pod.yaml'], 0, /^changed Pod research\/train-worker-0 docs/, /^$/],
    [['review', '-f', 'docs/examples/denied.yaml'], 1, /^denied Pod/, /^$/],
    [['review', '-f', 'docs/examples/denied.yaml', '-o', 'json'], 1, /^\[/, /^$/],
    [['review', '-f', 'docs/examples/denied.yaml', '-o', 'patch'], 1, /^$/, /: error: spec\.nodeName/],
    [
      ['validate', '-f', 'docs/examples/gang.yaml', 'docs/examples/config.yaml'],
      0,
      /2 objects checked/,
      /^$/,
    ],
    [['validate', '-f', 'docs/examples/misspelt.yaml'], 1, /did you mean "podgroups"/, /^$/],
    [
      ['review', '-f', 'missing.yaml'],
      2,
      /^$/,
      /^missing\.yaml: error: cannot be read: .*\nerror\[INPUT_UNREADABLE\]: .*\nfix: /,
    ],
    [
      ['review'],
      2,
      /^$/,
      /^error\[USAGE\]: required option '-f, --filename <file\.\.\.>' not specified\nfix: /,
    ],
    [['nonsense'], 2, /^$/, /^error\[USAGE\]: unknown command 'nonsense'\nfix: /],
  ])('muster %j ends with %d', async (args, code, out, err) => {
    const ended = await muster(args);
    expect(ended.code).toBe(code);
    expect(ended.out).toMatch(out);
    expect(ended.err).toMatch(err);
  });

  test('standard input', async () => {
    const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n';
    expect(await muster(['review', '-f', '-', '-o', 'patch'], pod)).toEqual({
      code: 0,
      out: '[]\n',
      err: '',
    });
  });

  test('a large answer arrives whole', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', annotations: { a: 'x'.repeat(1_000_000) } },
    };
    const { code, out } = await muster(['review', '-f', '-', '-o', 'yaml'], JSON.stringify(pod));
    expect(code).toBe(0);
    expect(out.length).toBeGreaterThan(1_000_000);
    expect(out.endsWith('\n')).toBe(true);
  });

  test('a reader that has seen enough changes no exit code', async () => {
    const code = await new Promise((resolve) => {
      const child = spawn(process.execPath, ['src/main.ts', 'review', '-f', 'docs/examples/denied.yaml'], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      child.stdout.destroy();
      child.on('close', resolve);
    });
    expect(code).toBe(1);
  });
});
