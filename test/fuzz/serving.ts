import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { policyFrom } from '../../src/cli/input/policy.ts';
import type { PatchSurface } from '../../src/backends/backend.ts';
import { supportedSchedulers } from '../../src/backends/registry.ts';
import { loadConfiguration } from '../../src/config/load.ts';
import { issueDevelopmentCertificates } from '../../src/tls/issue.ts';
import { LEVELS } from './objects.ts';

/** The program under test. */
export interface Serving {
  readonly port: number;
  readonly pid: number;
  readonly surfaceOf: (backend: string) => PatchSurface | undefined;
  /** Why it is not well: it ended, or its log says so. */
  failure(): string | undefined;
  close(): Promise<void>;
}

export const CONFIGURATION = JSON.stringify({
  apiVersion: 'operator.config.grove.io/v1alpha1',
  kind: 'OperatorConfiguration',
  logFormat: 'json',
  logLevel: 'info',
  scheduler: {
    profiles: [
      { name: 'default-scheduler' },
      { name: 'kai-scheduler', config: { queue: 'research' } },
      { name: 'volcano' },
    ],
  },
  topologyAwareScheduling: {
    enabled: true,
    levels: LEVELS.map((key, index) => ({ domain: `level-${index}`, key })),
  },
  server: {
    webhooks: { bindAddress: '127.0.0.1', port: 0, drain: { seconds: 0, maxSeconds: 1 } },
    healthProbes: { bindAddress: '127.0.0.1', port: 0 },
    metrics: { bindAddress: '127.0.0.1', port: 0 },
  },
});
/** A log line at level error that is no defect: a request whose time ran out. */
const NOT_DECIDED = 'not decided';

/** What backends may touch under that configuration. */
export const surfaces = (): Serving['surfaceOf'] => {
  const { configuration } = loadConfiguration({
    text: CONFIGURATION,
    env: {},
    flags: {},
    supportedSchedulers: supportedSchedulers().names,
  });
  const { registry } = policyFrom(configuration);
  return (backend) => registry.resolve(backend)?.backend.patchSurface;
};

/** `muster serve --no-controller`, as a process of its own. */
export async function startServing(): Promise<Serving> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-fuzz-'));
  const { certificate, key, caCertificate } = await issueDevelopmentCertificates({
    dnsNames: ['localhost', '127.0.0.1'],
    days: 2,
    now: new Date(),
  });
  const files = {
    'tls.crt': certificate,
    'tls.key': key,
    'ca.crt': caCertificate,
    'config.json': CONFIGURATION,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const child = spawn(
    process.execPath,
    [
      'src/main.ts',
      'serve',
      '--no-controller',
      '--cert-dir',
      folder,
      '--config',
      join(folder, 'config.json'),
    ],
    {
      cwd: join(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] },
    },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let failure: string | undefined;
  let ending = false;
  const hear = (line: string): void => {
    let entry: { level?: string; msg?: string; ports?: { webhooks: number }; webhooks?: number };
    try {
      entry = JSON.parse(line) as typeof entry;
    } catch {
      failure ??= `a line of the log is no JSON: ${line.slice(0, 2000)}`;
      return;
    }
    if (entry.msg === 'serving') resolve(portOf(line));
    if (entry.level === 'error' && entry.msg !== NOT_DECIDED) failure ??= `its log: ${line.slice(0, 4000)}`;
  };
  createInterface(child.stdout).on('line', hear);
  createInterface(child.stderr).on('line', (line) => (failure ??= `standard error: ${line}`));
  child.once('exit', (code, signal) => {
    if (!ending) failure = `it ended with ${code ?? signal}: ${failure ?? ''}`;
    reject(new Error(failure));
  });
  return {
    port: await promise,
    pid: child.pid ?? 0,
    surfaceOf: surfaces(),
    failure: () => failure,
    close: async () => {
      ending = true;
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const portOf = (line: string): number => {
  const found = JSON.parse(line) as { webhooks?: number; ports?: { webhooks?: number } };
  return found.ports?.webhooks ?? found.webhooks ?? 0;
};
