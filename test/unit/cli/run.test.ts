import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { ExitStatus } from '../../../src/cli/output/io.ts';
import { run } from '../../../src/cli/run.ts';
import { verbs } from '../../../src/cli/verbs.ts';
import type { Verb } from '../../../src/cli/output/io.ts';
import { buildStamp } from '../../../src/cli/version.ts';
import { MusterError } from '../../../src/errors.ts';
import { fakeIo, muster } from './fake-io.ts';

/** A program with the one verb `go`, which does `act`. */
const programOf = (act: () => void): Verb[] => [
  { name: 'go', summary: 'go', load: () => Promise.resolve(new Command('go').description('go').action(act)) },
];

async function whenThrown(thrown: unknown, env: Record<string, string> = {}) {
  const { io, written } = fakeIo({ env });
  const code = await run(
    ['go'],
    io,
    programOf(() => {
      throw thrown;
    }),
  );
  return { code, ...written };
}

describe('the list of verbs', () => {
  test.each([[[]], [['--help']], [['-h']]])('is what %j prints', async (args) => {
    const { code, out, err } = await muster(args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const { name, summary } of verbs) expect(out).toContain(`  ${name.padEnd(14)} ${summary}\n`);
    expect(out).toContain('Exit codes:\n  0  fine\n');
    expect(out).toContain('Example:\n  $ muster review -f pod.yaml\n');
  });

  test.each(verbs.map(({ name }) => name))(
    '%s says the same of itself, and shows an example',
    async (name) => {
      const verb = verbs.find((candidate) => candidate.name === name);
      const command = await verb?.load(fakeIo().io);
      expect(command?.name()).toBe(name);
      expect(command?.description()).toBe(verb?.summary);
      const asked = await muster([name, '--help']);
      expect(asked).toMatchObject({ code: 0, err: '' });
      expect(asked.out).toMatch(new RegExp(`^Usage: muster ${name} `));
      expect(asked.out).toMatch(new RegExp(`\\nExamples?:\\n(?:  .*\\n)*  \\$ muster ${name} `));
      expect(await muster(['help', name])).toEqual(asked);
    },
  );

  test('a verb that is not asked for is not loaded', async () => {
    const loaded: string[] = [];
    const verb = (name: string): Verb => ({
      name,
      summary: name,
      load: () => {
        loaded.push(name);
        return Promise.resolve(new Command(name).description(name).action(() => undefined));
      },
    });
    const { io } = fakeIo();
    expect(await run(['b'], io, [verb('a'), verb('b')])).toBe(0);
    expect(await run(['--help'], io, [verb('a'), verb('b')])).toBe(0);
    expect(loaded).toEqual(['b']);
  });
});

describe('wrong usage ends with 2 and the way out', () => {
  const fix = (verb: string): string => `fix: see "muster ${verb}--help"\n`;
  test.each([
    [['revue'], "error[USAGE]: unknown command 'revue' (Did you mean review?)\n"],
    [['--bogus'], "error[USAGE]: unknown option '--bogus'\n"],
    [['version', '--bogus'], "error[USAGE]: unknown option '--bogus'\n"],
    [
      ['version', 'more'],
      "error[USAGE]: too many arguments for 'version'. Expected 0 arguments but got 1: more.\n",
    ],
    [
      ['version', '-o', 'xml'],
      "error[USAGE]: option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are text, json.\n",
    ],
    [['review'], "error[USAGE]: required option '-f, --filename <file...>' not specified\n"],
    ...['review', 'validate', 'plan', 'hpc'].map((verb): [string[], string] => [
      [verb, '-n', 'My Team'],
      `error[USAGE]: option '-n, --namespace <name>' argument 'My Team' is invalid. A namespace is called by lower-case letters, digits and "-", at most 63.\n`,
    ]),
    [['validate'], "error[USAGE]: required option '-f, --filename <file...>' not specified\n"],
    [['certs'], "error[USAGE]: required option '--out <dir>' not specified\n"],
  ])('%j', async (args, message) => {
    const [verb = ''] = args.filter((arg) => verbs.some(({ name }) => name === arg));
    expect(await muster(args)).toEqual({ code: 2, out: '', err: `${message}${fix(verb && `${verb} `)}` });
  });
});

describe('what people try first', () => {
  test.each([['--version'], ['-V']])('%s is the verb', async (flag) => {
    expect(await muster([flag])).toEqual(await muster(['version']));
  });

  test('help is --help, and of an unknown verb says so', async () => {
    expect(await muster(['help'])).toEqual(await muster(['--help']));
    expect(await muster(['help', '--help'])).toEqual(await muster(['--help']));
    expect(await muster(['help', 'revue'])).toEqual(await muster(['revue']));
  });

  test.each([
    [['review', 'pod.yaml'], 'name the file after -f: muster review -f pod.yaml'],
    [['validate', '-n', 'lab', 'gangs/'], 'name the file after -f: muster validate -f gangs/'],
    [['review', '-'], 'name the file after -f: muster review -f -'],
    [['review', '-n', 'lab'], 'see "muster review --help"'],
  ])('a file without -f: %j', async (args, fix) => {
    expect(await muster(args)).toEqual({
      code: 2,
      out: '',
      err: `error[USAGE]: required option '-f, --filename <file...>' not specified\nfix: ${fix}\n`,
    });
  });

  test('a flag that is wrong is wrong usage, whichever it is; a variable is not', async () => {
    const port = await muster(['serve', '--port', 'abc']);
    expect(port).toMatchObject({
      code: 2,
      err: `command line: error: server.webhooks.port: must be a number, not the string "abc"
error[USAGE]: one fault in the configuration
fix: Correct every line above; docs/reference/configuration.md lists all settings with their defaults.
`,
    });
    expect((await muster(['certs', '--out', 'x', '--dns', 'y', '--days', 'abc'])).code).toBe(2);
    const env = { MUSTER_SERVER_WEBHOOKS_PORT: 'abc' };
    expect((await muster(['serve'], { env })).code).toBe(1);
  });

  test('as a plugin of kubectl it is called so', async () => {
    const { out } = await muster(['review', '--help'], { programName: 'kubectl muster' });
    expect(out).toMatch(/^Usage: kubectl muster review /);
    expect(out).toContain('  $ helm template ./chart | kubectl muster review -f - -o json\n');
    expect(out).not.toMatch(/[$|] muster/);
    const { err } = await muster(['review'], { programName: 'kubectl muster' });
    expect(err).toContain('fix: see "kubectl muster review --help"');
  });
});

describe('at a terminal of 80 columns no word is broken', () => {
  const words = (text: string): string[] => text.split(/\s+/);
  const tooLong = (text: string): string[] =>
    text.split('\n').filter((line) => line.length > 80 && /\S \S/.test(line.slice(80)));

  test.each(verbs.map(({ name }) => name))('in the help of %s', async (name) => {
    const narrow = await muster([name, '--help'], { columns: 80 });
    expect(tooLong(narrow.out)).toEqual([]);
    expect(words(narrow.out).filter((word) => word !== '\\')).toEqual(
      words((await muster([name, '--help'])).out),
    );
  });

  test.each(verbs.map(({ name }) => name))(
    'nor without a terminal where $COLUMNS says so: %s',
    async (name) => {
      for (const columns of [60, 80]) {
        const { out } = await muster([name, '--help'], { env: { COLUMNS: String(columns) } });
        const long = out
          .split('\n')
          .filter((line) => line.length > columns && /\S \S/.test(line.slice(columns - 20)));
        expect(long).toEqual([]);
        expect(out).toBe((await muster([name, '--help'], { columns })).out);
      }
    },
  );

  test('an example is broken as a shell reads it, and what is said of it stands below', async () => {
    const env = { COLUMNS: '40' };
    const { out } = await muster(['status', '--help'], { env });
    expect(out).toContain(`
  $ muster status --fleet
      who waits in which queue of a
      fleet, at which position, and why
  $ muster status -w -o json | jq \\
      'select(.gang.summary.phase == "Running").gang.name'
`);
  });

  test('what is no number of columns counts as not said', async () => {
    const whole = (await muster(['plan', '--help'])).out;
    for (const COLUMNS of ['', 'wide', '0', '-5'])
      expect((await muster(['plan', '--help'], { env: { COLUMNS } })).out).toBe(whole);
    const args = ['review', '-f', 'docs/examples/denied.yaml'];
    expect(await muster(args, { env: { COLUMNS: '60' } })).toEqual(await muster(args));
  });

  test('and a paragraph of help is filled anew, not broken line by line', async () => {
    const { out } = await muster(['interpret', '--help'], { columns: 60 });
    expect(out).toContain(
      "\nSays of each workload what Karmada is told by Muster's\ninterpreter: its Pod templates with the number of their Pods\n",
    );
    expect(out.endsWith('.\n')).toBe(true);
  });

  test.each([
    ['review', '-f', 'docs/examples/denied.yaml'],
    ['validate', '-f', 'docs/examples/never-starts.yaml'],
  ])('in what %s refuses', async (...args) => {
    const narrow = await muster(args, { columns: 80 });
    expect(narrow.out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(words(narrow.out)).toEqual(words((await muster(args)).out));
  });

  test('nor in an error, and what is no terminal gets it in one line', async () => {
    const thrown = new MusterError('USAGE', `${'word '.repeat(40)}end`, `${'way '.repeat(40)}out`);
    const { io, written } = fakeIo({ columns: 80 });
    await run(
      ['go'],
      io,
      programOf(() => {
        throw thrown;
      }),
    );
    expect(Math.max(...written.err.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect((await whenThrown(thrown)).err.trimEnd().split('\n')).toHaveLength(2);
  });
});

describe('what a verb throws', () => {
  test('an error of the catalogue: its message, its way out, its exit code', async () => {
    const error = new MusterError(
      'CLUSTER_UNREACHABLE',
      'no answer from https://10.0.0.1',
      'start the cluster',
    );
    expect(await whenThrown(error)).toEqual({
      code: 3,
      out: '',
      err: 'error[CLUSTER_UNREACHABLE]: no answer from https://10.0.0.1\nfix: start the cluster\n',
    });
  });

  test('each line of a message is an error by itself', async () => {
    const { err } = await whenThrown(
      new MusterError('CONFIG_INVALID', 'a.yaml:1:1 x\na.yaml:2:1 y', 'correct it'),
    );
    expect(err).toBe(
      'error[CONFIG_INVALID]: a.yaml:1:1 x\nerror[CONFIG_INVALID]: a.yaml:2:1 y\nfix: correct it\n',
    );
  });

  test('control characters reach no terminal', async () => {
    const { err } = await whenThrown(new MusterError('USAGE', 'file \u001b[2J\u202e', 'rename it'));
    expect(err).toBe('error[USAGE]: file \\u{1b}[2J\\u{202e}\nfix: rename it\n');
  });

  test('anything else: 1 and its message; the stack only for those who ask', async () => {
    const defect = new Error('it broke');
    expect(await whenThrown(defect)).toEqual({ code: 1, out: '', err: 'error: it broke\n' });
    expect((await whenThrown(defect, { MUSTER_DEBUG: '1' })).err).toContain('at ');
    expect(await whenThrown('a string')).toEqual({ code: 1, out: '', err: 'error: a string\n' });
  });

  test('an exit status is an exit code and nothing more', async () => {
    expect(await whenThrown(new ExitStatus(1))).toEqual({ code: 1, out: '', err: '' });
  });
});

describe('muster version', () => {
  test('text and JSON tell the same', async () => {
    const json = await muster(['version', '-o', 'json']);
    const report = JSON.parse(json.out) as { version: string };
    expect(report).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.version,
      backendContract: 1,
      podGang: 'scheduler.grove.io/v1alpha1',
      schedulers: expect.arrayContaining(['default-scheduler', 'kai-scheduler']),
      aliases: expect.objectContaining({ 'grove-scheduler': 'kai-scheduler' }),
    });
    const text = await muster(['version']);
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toContain(`muster ${report.version}\nnode ${process.version}\nbackend contract 1\n`);
    expect(text.out).toContain('grove-scheduler (now kai-scheduler)\n');
  });

  const HASH = '0123456789abcdef0123456789abcdef01234567';
  test.each([
    ['no build', undefined, {}],
    ['a build that knew nothing', ' \n', {}],
    ['a commit', `${HASH}\n`, { commit: HASH }],
    ['a commit and its time', `${HASH} 1764100000\n`, { commit: HASH, date: '2025-11-25T19:46:40Z' }],
    ['changes beyond it', '89abcdef-dirty 0', { commit: '89abcdef-dirty', date: '1970-01-01T00:00:00Z' }],
    ['something else', 'latest 1764100000', {}],
  ])('the build wrote %s', (_, written, stamp) => {
    const root = mkdtempSync(join(tmpdir(), 'muster-stamp-'));
    mkdirSync(join(root, 'dist'));
    if (written !== undefined) writeFileSync(join(root, 'dist/BUILD'), written);
    expect(buildStamp(pathToFileURL(join(root, 'dist/src/cli/version.js')).href)).toEqual(stamp);
    rmSync(root, { recursive: true });
  });
});
