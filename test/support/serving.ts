import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { issueDevelopmentCertificates } from '../../src/tls/issue.ts';
import { observeLog, observeMetrics } from './observed.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** A running `muster serve` from its source, as its own process, as in a cluster. */
export interface Serving {
  readonly port: number;
  readonly metricsPort: number;
  readonly healthPort: number;
  /** PEM of the CA that its certificate comes from. */
  readonly ca: string;
  /** With its configuration, `config.yaml`. */
  readonly directory: string;
  /** Lines of its log that tell of decisions, so far. */
  readonly decisions: () => readonly Record<string, unknown>[];
  /** All other lines of its log, so far. */
  readonly log: () => readonly Record<string, unknown>[];
  /** SIGKILL: what a node failure does. */
  kill(): Promise<void>;
  /** SIGTERM, and its exit code: what a rollout does. */
  terminate(): Promise<number | null>;
  /** Ends it, whatever it does, and removes what it left. */
  close(): Promise<void>;
}

/** How long the program may take until it serves: seconds where nothing else runs. */
const START_MS = 60_000;

export interface ServingOptions {
  /** Directory with a certificate that several replicas share; made where there is none. */
  readonly certificates?: string;
  /** Seconds, as in server.webhooks.drain. */
  readonly drain?: { readonly seconds: number; readonly maxSeconds: number };
  /** Runs the loop as well, on this cluster. Without it: admission only. */
  readonly kubeconfig?: string;
  /** Further flags of `serve`. */
  readonly flags?: readonly string[];
  /** Flags of Node, such as those of the image. */
  readonly node?: readonly string[];
  /** More of the configuration. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The whole configuration, in place of the usual one. */
  readonly configuration?: object;
  /** Of another checkout, the program's first file. */
  readonly main?: string;
}

/** Unless a test says otherwise. */
export const USUAL_SCHEDULER = {
  profiles: [{ name: 'kai-scheduler', config: { queue: 'default-queue' } }, { name: 'default-scheduler' }],
  defaultProfileName: 'kai-scheduler',
};

const configurationOf = ({ drain, settings }: ServingOptions): object => ({
  apiVersion: 'operator.config.grove.io/v1alpha1',
  kind: 'OperatorConfiguration',
  scheduler: USUAL_SCHEDULER,
  // A test may ask for any of them.
  logDecisionsPerSecond: 1_000_000,
  server: { webhooks: { drain: drain ?? { seconds: 0, maxSeconds: 2 } } },
  ...settings,
});

/** A CA and a certificate for loopback, and for the Service, in `directory`. */
export async function writeCertificates(directory: string, days = 1): Promise<void> {
  const issued = await issueDevelopmentCertificates({
    dnsNames: ['localhost', '127.0.0.1', 'muster.muster-system.svc'],
    days,
    now: new Date(),
  });
  await writeFile(join(directory, 'ca.crt'), issued.caCertificate);
  await writeFile(join(directory, 'tls.crt'), issued.certificate);
  await writeFile(join(directory, 'tls.key'), issued.key, { mode: 0o600 });
}

/**
 * Starts the program with `serve` on free loopback ports.
 * @throws Error with the end of its log where it does not come to serve
 */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-serving-'));
  const certificates = options.certificates ?? directory;
  if (options.certificates === undefined) await writeCertificates(directory);
  const config = join(directory, 'config.yaml');
  await writeFile(config, stringify(options.configuration ?? configurationOf(options)));
  const child = spawn(process.execPath, [
    ...(options.node ?? []),
    options.main ?? MAIN,
    'serve',
    ...(options.kubeconfig === undefined ? ['--no-controller'] : ['--kubeconfig', options.kubeconfig]),
    ...['--config', config, '--cert-dir', certificates],
    ...['--port', '0', '--health-port', '0', '--metrics-port', '0'],
    ...(options.flags ?? []),
  ]);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const decisions: Record<string, unknown>[] = [];
  const log: Record<string, unknown>[] = [];
  const ports = await servingPorts(child, (event) => {
    observeLog(event);
    (event['msg'] === 'decided' ? decisions : log).push(event);
  });
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    port: ports.webhooks,
    metricsPort: ports.metrics,
    healthPort: ports.health,
    ca: await readFile(join(certificates, 'ca.crt'), 'utf8'),
    directory,
    decisions: () => decisions,
    log: () => log,
    kill,
    terminate: () => {
      child.kill('SIGTERM');
      return ended;
    },
    close: async () => {
      await observeMetrics(ports.metrics);
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function servingPorts(
  child: ChildProcess,
  take: (event: Record<string, unknown>) => void,
): Promise<{ webhooks: number; health: number; metrics: number }> {
  return new Promise((resolve, reject) => {
    const tail: string[] = [];
    const fail = (why: string): void => {
      child.kill('SIGKILL');
      reject(new Error(`muster serve ${why}: ${tail.join(' ').slice(-2000)}`));
    };
    const timer = setTimeout(() => fail('did not start in time'), START_MS);
    child.once('exit', () => {
      clearTimeout(timer);
      fail('ended');
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        tail.push(line);
        if (tail.length > 20) tail.shift();
        const event = eventOf(line);
        take(event);
        if (event['msg'] !== 'serving') return;
        clearTimeout(timer);
        child.removeAllListeners('exit');
        resolve(event as never);
      });
    }
  });
}

function eventOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}
