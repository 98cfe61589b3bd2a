import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { issueDevelopmentCertificates } from '../../src/tls/issue.ts';
import { freePorts } from '../../test/cluster/control-plane/ports.ts';
import type { Placement } from '../measure/placement.ts';

/**
 * `other`: a second Muster, mostly of another build, to compare two states of the program in one run. `preview`: one that
 * forecasts preemption.
 */
export type ServerName = 'bare' | 'muster' | 'other' | 'preview' | 'peer';

/** A server under measurement, as a process of its own. */
export interface RunningServer {
  readonly name: ServerName;
  readonly pid: number;
  readonly port: number;
  /** Of `/metrics`; only Muster has it. */
  readonly metricsPort: number;
  stop(): Promise<void>;
}

/** Scratch folder of one run. */
export interface Scratch {
  readonly folder: string;
  /**
   * The certificates, and nothing else. Muster looks at the folder anew whenever anything in it changes: beside them, each
   * line of a log would cost it a look.
   */
  readonly certificates: string;
  readonly caFile: string;
}

const ROOT = join(import.meta.dirname, '..', '..');
/** Milliseconds until a server must answer a handshake, and after SIGTERM until it is killed. */
const START_MS = 20_000;
const STOP_MS = 5_000;

/** Names of backends; the first is for gangs that name none. */
type Profiles = readonly [string, ...string[]];

/**
 * Muster decides for the peer's backend by default, so that both make the same change. Its log stays as it is in
 * production, one line per decision, into a file. The drain is cut short: here nobody is left to be served.
 */
const configuration = ([first, ...others]: Profiles): string => `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
scheduler:
  defaultProfileName: ${first}
  profiles: [${[first, ...others].map((name) => `{name: ${name}}`).join(', ')}]
server:
  webhooks: {bindAddress: 127.0.0.1, drain: {seconds: 0, maxSeconds: 1}}
  healthProbes: {bindAddress: 127.0.0.1}
  metrics: {bindAddress: 127.0.0.1}
fleet: {interpreter: true}
`;

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface StartOptions {
  readonly placement: Placement;
  readonly peerProgram?: string;
  /** Muster runs its loop too, on this cluster. */
  readonly kubeconfig?: string;
  /** Of Muster. */
  readonly profiles?: Profiles;
  /** Muster prepares the Pods of gangs with an HPCPolicy. */
  readonly hpc?: boolean;
  /** What the bare server answers; absent: the change of all others. */
  readonly patchFile?: string;
  /** Folder of what is compiled; that of this checkout where absent. */
  readonly build?: string;
  /** Of Node, for Muster; those of the image where absent: what is measured is what is shipped. */
  readonly nodeFlags?: readonly string[];
}

/** Starts one server on its core and waits until it answers a TLS handshake. */
export async function startServer(
  name: ServerName,
  scratch: Scratch,
  options: StartOptions,
): Promise<RunningServer> {
  const [port = 0, metricsPort = 0, healthPort = 0] = await freePorts(3);
  const command = commandOf(name, { port, metricsPort, healthPort }, scratch, options);
  const output = join(scratch.folder, `${name}.log`);
  const fd = openSync(output, 'w');
  const [file = '', ...args] = [...options.placement.onServerCore, ...command];
  const env = {
    ...process.env,
    ...(name !== 'peer' && name !== 'bare' && environmentOfImage()),
    ...(name === 'preview' && { MUSTER_PREEMPTION_PREVIEW: 'true' }),
    ...(options.hpc === true && { MUSTER_HPC_ENABLED: 'true' }),
  };
  const child = spawn(file, args, { cwd: scratch.folder, stdio: ['ignore', fd, fd], env });
  running.add(child);
  child.once('exit', () => running.delete(child));
  await Promise.race([
    answersTls(port, scratch),
    once(child, 'exit').then(() => {
      throw new Error(`${name} ended at once: ${readFileSync(output, 'utf8').slice(-2000)}`);
    }),
  ]);
  return { name, port, metricsPort, pid: child.pid ?? 0, stop: () => stop(child) };
}

function commandOf(
  name: ServerName,
  { port, metricsPort, healthPort }: { port: number; metricsPort: number; healthPort: number },
  { folder, certificates }: Scratch,
  {
    peerProgram = '',
    kubeconfig,
    patchFile,
    profiles = ['kai-scheduler', 'default-scheduler'],
    build = join(ROOT, 'dist'),
    nodeFlags = nodeFlagsOfImage(),
  }: StartOptions,
): string[] {
  const shared = ['--cert-dir', certificates, '--port', String(port)];
  if (name === 'peer') return [peerProgram, ...shared];
  if (name === 'bare')
    return [
      ...[process.execPath, join(ROOT, 'bench', 'admission', 'bare-server.ts'), ...shared],
      ...(patchFile === undefined ? [] : ['--patch', patchFile]),
    ];
  const config = join(folder, 'config.yaml');
  writeFileSync(config, configuration(profiles));
  const others = ['--health-port', String(healthPort), '--metrics-port', String(metricsPort)];
  const main = join(build, 'src', 'main.js');
  const loop = kubeconfig === undefined ? ['--no-controller'] : ['--kubeconfig', kubeconfig];
  return [process.execPath, ...nodeFlags, main, 'serve', ...loop, '--config', config, ...shared, ...others];
}

async function answersTls(port: number, { caFile }: Scratch): Promise<void> {
  const ca = readFileSync(caFile);
  for (const until = performance.now() + START_MS; performance.now() < until; await delay(50)) {
    const connected = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (connected) return;
  }
  throw new Error(`nothing answers on port ${port} after ${START_MS} ms`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}

/** The flags of Node with which the image starts Muster. */
export function nodeFlagsOfImage(): string[] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const entry = /^ENTRYPOINT (\[.*\])$/m.exec(text)?.[1];
  if (entry === undefined) throw new Error('the Dockerfile has no ENTRYPOINT in JSON');
  return (JSON.parse(entry) as string[]).filter((word) => word.startsWith('--'));
}

/** Of the C library and of OpenSSL, as the image sets them. */
export function environmentOfImage(): Record<string, string> {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/^ENV ((?:MALLOC|OPENSSL)_\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [
      name,
      value.replace('/app/', join(ROOT, 'release', 'image', '/')),
    ]),
  );
}

/** A folder for one run: the certificates that all servers show, the configuration and the logs. */
export async function makeScratch(): Promise<{ scratch: Scratch; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'));
  const made = await issueDevelopmentCertificates({
    dnsNames: ['localhost', '127.0.0.1'],
    days: 1,
    now: new Date(),
  });
  const certificates = join(folder, 'certificates');
  mkdirSync(certificates);
  const caFile = join(certificates, 'ca.crt');
  writeFileSync(caFile, made.caCertificate);
  writeFileSync(join(certificates, 'tls.crt'), made.certificate);
  writeFileSync(join(certificates, 'tls.key'), made.key, { mode: 0o600 });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Also where the bench is ended under way.
  process.once('exit', remove);
  return { scratch: { folder, certificates, caFile }, remove };
}
