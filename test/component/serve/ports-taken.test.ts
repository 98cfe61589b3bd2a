import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeCertificates } from '../../support/serving.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');

let certificates: string;
const holder = createServer();
let taken: number;

beforeAll(async () => {
  certificates = await mkdtemp(join(tmpdir(), 'muster-ports-'));
  await writeCertificates(certificates);
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  taken = (holder.address() as AddressInfo).port;
});

afterAll(async () => {
  await new Promise((resolve) => holder.close(resolve));
  await rm(certificates, { recursive: true });
});

test.each(['--port', '--health-port', '--metrics-port'])(
  'a port of %s that is taken ends serve',
  async (flag) => {
    const ports = { '--port': '0', '--health-port': '0', '--metrics-port': '0', [flag]: String(taken) };
    const args = ['serve', '--no-controller', '--cert-dir', certificates, ...Object.entries(ports).flat()];
    const loopback = {
      MUSTER_SERVER_WEBHOOKS_BIND_ADDRESS: '127.0.0.1',
      MUSTER_SERVER_HEALTH_PROBES_BIND_ADDRESS: '127.0.0.1',
      MUSTER_SERVER_METRICS_BIND_ADDRESS: '127.0.0.1',
    };
    const misspelt = { MUSTER_LOGLEVEL: 'debug' };
    const ended = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
      execFile(
        process.execPath,
        [MAIN, ...args],
        { env: { ...process.env, ...loopback, ...misspelt } },
        (error, stdout, stderr) => resolve({ code: error?.code, stdout, stderr }),
      );
    });
    expect(ended.code).toBe(1);
    const warned = ended.stdout.split('\n').filter((line) => line.includes('MUSTER_LOGLEVEL'));
    expect(warned.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        level: 'warn',
        msg: 'unknown environment variable MUSTER_LOGLEVEL (did you mean "MUSTER_LOG_LEVEL"?)',
      }),
    ]);
    // Among lines of JSON it is one, too, and nothing else is said.
    const [last = ''] = ended.stdout.trim().split('\n').slice(-1);
    expect(JSON.parse(last)).toMatchObject({
      level: 'error',
      code: 'LISTEN_FAILED',
      msg: `cannot listen on 127.0.0.1:${taken}: listen EADDRINUSE: address already in use 127.0.0.1:${taken}`,
      fix: `stop what holds the port, or choose another with ${flag}`,
    });
    expect(ended.stderr).toBe('');
  },
);

test('in text for people it is told as by every other verb, and what looks like a mistake is a warning', async () => {
  const args = ['serve', '--no-controller', '--cert-dir', certificates, '--port', String(taken)];
  const env = {
    ...process.env,
    MUSTER_LOG_FORMAT: 'text',
    MUSTER_LOG_LEVLE: 'debug',
    MUSTER_SERVER_WEBHOOKS_BIND_ADDRESS: '127.0.0.1',
  };
  const ended = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
  });
  expect(ended.stderr).toContain(`cannot listen on 127.0.0.1:${taken}`);
  expect(ended.stderr).toContain('fix: stop what holds the port, or choose another with --port');
  expect(ended.stdout).toMatch(/^\[.*\] WARN: .*MUSTER_LOG_LEVLE/m);
});
