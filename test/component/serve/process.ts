import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { observeLines } from '../../support/observed.ts';
import { until } from '../../unit/tls/until.ts';
import { developmentCertificates } from '../server/running.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** `muster serve` as a process of its own. */
export interface Served {
  readonly child: ChildProcess;
  readonly ports: { readonly webhooks: number; readonly health: number; readonly metrics: number };
  /** Standard output and error so far. */
  output(): string;
  /** Resolves with the exit code; null where a signal ended it. */
  readonly exited: Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** For `afterEach`: nothing outlives a test. */
export const killAll = (): void => {
  for (const child of running) child.kill('SIGKILL');
};

/** @param nodeFlags what Node is started with */
export async function serve(
  drain: { seconds: number; maxSeconds: number },
  nodeFlags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-serve-'));
  const config = join(directory, 'config.yaml');
  await writeFile(
    config,
    `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
logFormat: json
server:
  webhooks: { bindAddress: 127.0.0.1, drain: { seconds: ${drain.seconds}, maxSeconds: ${drain.maxSeconds} } }
  healthProbes: { bindAddress: 127.0.0.1 }
  metrics: { bindAddress: 127.0.0.1 }
`,
  );
  const ports = ['--port', '--health-port', '--metrics-port'].flatMap((flag) => [flag, '0']);
  const certDir = await developmentCertificates();
  const child = spawn(
    process.execPath,
    [
      ...nodeFlags,
      'src/main.ts',
      'serve',
      '--no-controller',
      '--cert-dir',
      certDir,
      '--config',
      config,
      ...ports,
    ],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], ...env } },
  );
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  const exited = once(child, 'exit').then(([code]) => {
    running.delete(child);
    observeLines(output.split('\n'));
    return code as number | null;
  });
  const serving = (): Served['ports'] | undefined => {
    const line = output.split('\n').find((one) => one.includes('"msg":"serving"') && one.endsWith('}'));
    return line === undefined ? undefined : (JSON.parse(line) as Served['ports']);
  };
  await until(
    'it serves',
    () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${output}`);
      return serving() !== undefined;
    },
    30_000,
  );
  return { child, ports: serving() as Served['ports'], output: () => output, exited };
}
