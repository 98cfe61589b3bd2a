import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stringify } from 'yaml';
import { issueDevelopmentCertificates } from '../src/tls/issue.ts';

type LogLine = Readonly<Record<string, unknown>>;

/** The program under show, running `serve` as a process of its own, as in a cluster. */
export interface Serving {
  readonly port: number;
  readonly metricsPort: number;
  /** PEM of the CA that its certificate comes from. */
  readonly ca: string;
  /** Lines of its log that tell of decisions, so far. */
  readonly decisions: () => readonly LogLine[];
  /** SIGKILL: what a node failure does. */
  kill(): Promise<void>;
  /** Ends it and removes what it left. */
  close(): Promise<void>;
}

export interface ServingOptions {
  readonly now: Date;
  /** The file that is Muster. */
  readonly main: string;
  /** Runs the loop as well, on this cluster. Without it: admission only. */
  readonly kubeconfig?: string;
  /** Beside what most clusters have. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** How long the program may take until it serves. */
const START_MS = 60_000;

/** Muster as most clusters would have it: the stock scheduler by default, another one for those who ask for it. */
const CONFIGURATION = {
  apiVersion: 'operator.config.grove.io/v1alpha1',
  kind: 'OperatorConfiguration',
  scheduler: {
    profiles: [{ name: 'default-scheduler' }, { name: 'kai-scheduler', config: { queue: 'default-queue' } }],
    defaultProfileName: 'default-scheduler',
  },
  server: { webhooks: { drain: { seconds: 0, maxSeconds: 2 } } },
};

/**
 * Starts `muster serve` on free loopback ports, with a certificate for loopback.
 * @throws Error with the end of its log
 */
export async function startServing({ now, main, kubeconfig, settings }: ServingOptions): Promise<Serving> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-demo-'));
  const issued = await issueDevelopmentCertificates({ dnsNames: ['localhost', '127.0.0.1'], days: 1, now });
  const files = {
    'ca.crt': issued.caCertificate,
    'tls.crt': issued.certificate,
    'tls.key': issued.key,
    'config.yaml': stringify({ ...CONFIGURATION, ...settings }),
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(directory, name), content, { mode: 0o600 });
  }
  const child = spawn(process.execPath, [
    main,
    'serve',
    ...(kubeconfig === undefined ? ['--no-controller'] : ['--kubeconfig', kubeconfig]),
    ...['--config', join(directory, 'config.yaml'), '--cert-dir', directory],
    ...['--port', '0', '--health-port', '0', '--metrics-port', '0'],
  ]);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const decisions: LogLine[] = [];
  const kill = (): Promise<void> => {
    child.kill('SIGKILL');
    return ended;
  };
  const close = async (): Promise<void> => {
    await kill();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const ports = await servingPorts(child, (line) => line['msg'] === 'decided' && decisions.push(line));
    return {
      port: ports.webhooks,
      metricsPort: ports.metrics,
      ca: issued.caCertificate,
      decisions: () => decisions,
      kill,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Its ports, from the line of its log that says that it serves. */
function servingPorts(
  child: ChildProcess,
  take: (line: LogLine) => void,
): Promise<{ webhooks: number; metrics: number }> {
  return new Promise((resolve, reject) => {
    const tail: string[] = [];
    const fail = (why: string): void =>
      reject(new Error(`muster serve ${why}: ${tail.join(' ').slice(-2000)}`));
    const timer = setTimeout(() => fail('did not start in time'), START_MS);
    child.once('close', () => {
      clearTimeout(timer);
      fail('ended');
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (text) => {
        tail.push(text);
        if (tail.length > 20) tail.shift();
        const line = parsed(text);
        take(line);
        if (line['msg'] !== 'serving') return;
        clearTimeout(timer);
        resolve(line as never);
      });
    }
  });
}

function parsed(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return {};
  }
}
