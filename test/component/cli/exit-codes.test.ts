import { describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    [['explain'], 0, /^TOPIC +ENTRIES/, /^$/],
    [['explain', 'podgang.spec.podgroups.minReplicas'], 0, /^podgang\S+: field\n {2}Type +integer\n/, /^$/],
    [
      ['explain', 'GangNotNamd'],
      2,
      /^$/,
      /^error\[USAGE\]: nothing is called "GangNotNamd" \(did you mean "GangNotNamed"\?\)\nfix: /,
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

  test('an older Node is told what to do, before anything is loaded', async () => {
    const older = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})';
    const { code, err } = await new Promise<Pick<Ended, 'code' | 'err'>>((resolve) => {
      const child = spawn(process.execPath, ['--import', older, 'src/main.ts', 'version'], { cwd: root });
      let told = '';
      child.stderr.on('data', (chunk) => (told += String(chunk)));
      child.on('close', (ended) => resolve({ code: ended, err: told }));
    });
    expect(code).toBe(2);
    expect(err).toMatch(
      /^error\[NODE_TOO_OLD\]: Muster needs Node\.js 26 or later, and this is 20\.20\.2\nfix: install a newer one .*\n$/,
    );
    const { engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      engines: { node: string };
    };
    expect(engines.node).toBe('>=26');
  });

  test('a full disk is an error with a way out, not a stack', async () => {
    const { code, err } = await shell('src/main.ts version > /dev/full');
    expect(code).toBe(1);
    expect(err).toBe(
      'error[OUTPUT_FAILED]: cannot write standard output: ENOSPC: no space left on device, write\nfix: make room, or name another file behind ">"\n',
    );
  });

  test('a template that YAML can read gives no warning of Node', async () => {
    const template = 'apiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Release.Name }}}\nspec: {}\n';
    const { out, err } = await muster(['review', '-f', '-'], template);
    expect(err).toBe('');
    expect(out).toContain('metadata.name: it is a template of Helm: render it first, ');
  });

  test('head takes the first line, and nothing else is said', async () => {
    expect(await shell('src/main.ts review -f docs/examples | head -1')).toEqual({
      code: 0,
      out: expect.stringMatching(/^denied Pod [^\n]*\n$/),
      err: '',
    });
  });

  test('a folder that no file system lets be made is refused, and at once', async () => {
    const { code, err } = await shell('src/main.ts certs --out /proc/muster-certs --dns localhost');
    expect(code).toBe(2);
    const gang = '-f docs/examples/hpc-gang.yaml';
    const files = await shell(`src/main.ts hpc render ${gang} --out /proc/muster-flux`);
    expect(files.code).toBe(2);
    expect(files.err).toMatch(/^error\[USAGE\]: --out \/proc\/muster-flux: .*\nfix: name a folder/);
    expect(err).toMatch(
      /^error\[USAGE\]: cannot write to \/proc\/muster-certs: .*\nfix: give --out a directory/,
    );
  });

  test('by the name that kubectl looks for it is a plugin', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-plugin-'));
    try {
      const plugin = join(folder, 'kubectl-muster.ts');
      await symlink(join(root, 'src/main.ts'), plugin);
      expect((await shell(`${plugin} --help`)).out).toMatch(/^Usage: kubectl muster <verb>/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** Node with `command` behind it, in a shell. */
const shell = (command: string): Promise<Ended> =>
  new Promise((resolve) => {
    const child = spawn('sh', ['-c', `'${process.execPath}' ${command}`], { cwd: root });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    child.stderr.on('data', (chunk) => (err += String(chunk)));
    child.on('close', (code) => resolve({ code, out, err }));
  });
