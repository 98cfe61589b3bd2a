import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { certsCommand } from '../../../../src/cli/certs/certs.ts';
import { MusterError } from '../../../../src/errors.ts';
import { loadServingPair } from '../../../../src/tls/reload.ts';

const now = new Date('2026-06-01T12:00:00Z');
let out: string;
let printed: string;

beforeEach(async () => {
  out = join(await mkdtemp(join(tmpdir(), 'muster-certs-')), 'new', 'directory');
  printed = '';
});

const run = (...argv: string[]): Promise<unknown> =>
  certsCommand({
    stdout: (text) => void (printed += text),
    stderr: (text) => void (printed += `stderr: ${text}`),
    now: () => now,
    env: {},
    isTerminal: false,
    readStdin: () => Promise.resolve(Buffer.of()),
  }).parseAsync(argv, { from: 'user' });

const failure = async (...argv: string[]): Promise<MusterError> => {
  const error = await run(...argv).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MusterError);
  expect(printed).toBe(''); // told by whoever catches it, once
  return error as MusterError;
};

describe('muster certs', () => {
  test('writes a pair that Muster itself would serve, and says so', async () => {
    await run('--out', out, '--dns', 'muster.muster-system.svc', '127.0.0.1', '--days', '30');
    const pair = await loadServingPair(out, { now, serverName: 'muster.muster-system.svc' });
    expect(pair.notAfter.toISOString()).toBe('2026-07-01T12:00:00.000Z');
    expect(new X509Certificate(pair.certificate).checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(printed).toBe(
      [
        `wrote ${out}/ca.crt (the CA, for caBundle; its key was not kept)`,
        `wrote ${out}/tls.crt (for muster.muster-system.svc, 127.0.0.1)`,
        `wrote ${out}/tls.key (secret, mode 0600)`,
        'valid until 2026-07-01T12:00:00.000Z (30 days)\n',
      ].join('\n'),
    );
  });

  test.each([0o000, 0o022, 0o277])('only the owner may read the key, under umask %i', async (umask) => {
    await mkdir(out, { recursive: true });
    const before = process.umask(umask);
    try {
      await run('--out', out, '--dns', 'a');
    } finally {
      process.umask(before);
    }
    const modeOf = async (name: string): Promise<number> => (await stat(join(out, name))).mode & 0o777;
    expect(await modeOf('tls.key')).toBe(0o600);
    expect(await modeOf('tls.crt')).toBe(0o644);
    expect((await readdir(out)).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
  });

  test.each(['ca.crt', 'tls.crt', 'tls.key'])('does not overwrite %s unless it is told to', async (name) => {
    await mkdir(out, { recursive: true });
    await writeFile(join(out, name), 'precious', { mode: 0o666 });
    const { code, message, fix } = await failure('--out', out, '--dns', 'a');
    expect({ code, message, fix }).toEqual({
      code: 'USAGE',
      message: `${join(out, name)} exists`,
      fix: 'give another --out, or --force to overwrite all three files',
    });
    expect(await readdir(out)).toEqual([name]);
    expect(await readFile(join(out, name), 'utf8')).toBe('precious');

    await run('--out', out, '--dns', 'a', '--force');
    await expect(loadServingPair(out, { now, serverName: 'a' })).resolves.toHaveProperty('serial');
    expect((await stat(join(out, 'tls.key'))).mode & 0o777).toBe(0o600);
  });

  test('names may come in one flag or several, and count once', async () => {
    await run('--out', out, '--dns', 'a', 'b', '--dns', 'c', 'a', '--days', '1');
    expect((await loadServingPair(out, { now })).dnsNames).toEqual(['a', 'b', 'c']);
    expect(printed).toMatch(/ \(1 day\)\n$/);
  });

  test('help shows an example', async () => {
    await expect(run('--help')).rejects.toMatchObject({ exitCode: 0 });
    expect(printed).toContain('$ muster certs --out /tmp/muster-certs --dns muster.muster-system.svc');
  });
});

describe('what is refused', () => {
  const seeHelp = 'see "muster certs --help"';
  const notADnsName = 'It is neither a DNS name nor an IP address.';
  const notDays = 'It is not a whole number from 1 to 3650.';
  test.each([
    [['--dns', 'a'], "required option '--out <dir>' not specified"],
    [['--out', 'd'], "required option '--dns <name...>' not specified"],
    [['--out', 'd', '--dns'], "option '--dns <name...>' argument missing"],
    [['--out', 'd', '--dns', 'a b'], `option '--dns <name...>' argument 'a b' is invalid. ${notADnsName}`],
    [['--out', 'd', '--dns', '-'], `option '--dns <name...>' argument '-' is invalid. ${notADnsName}`],
    [['--out', 'd', '--dns', 'a..b'], `option '--dns <name...>' argument 'a..b' is invalid. ${notADnsName}`],
    [['--days', '0'], `option '--days <n>' argument '0' is invalid. ${notDays}`],
    [['--days', '3651'], `option '--days <n>' argument '3651' is invalid. ${notDays}`],
    [['--days', '1.5'], `option '--days <n>' argument '1.5' is invalid. ${notDays}`],
    [['--out', 'd', '--dns', 'a', '--bogus'], "unknown option '--bogus'"],
  ])('%j', async (argv, message) => {
    expect(await failure(...argv)).toMatchObject({ code: 'USAGE', message, fix: seeHelp });
  });

  test('a directory that cannot be made', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'muster-certs-')), 'file');
    await writeFile(file, '');
    const { code, message, fix } = await failure('--out', join(file, 'below'), '--dns', 'a');
    expect(code).toBe('USAGE');
    expect(message).toContain(`cannot write to ${file}/below: `);
    expect(fix).toBe('give --out a directory that you may write to');
  });

  test('a directory in the place of a file leaves no temporary file behind', async () => {
    await mkdir(join(out, 'tls.crt'), { recursive: true });
    await failure('--out', out, '--dns', 'a', '--force');
    expect((await readdir(out)).sort()).toEqual(['ca.crt', 'tls.crt']);
  });
});
