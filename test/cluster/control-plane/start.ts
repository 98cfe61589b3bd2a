import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeAuditPolicy } from './audit.ts';
import { BINARIES, locateBinaries, type Binary } from './binaries.ts';
import { createClient } from './client.ts';
import type { Client } from './client.ts';
import {
  apiServerArguments,
  controllerManagerArguments,
  etcdArguments,
  schedulerArguments,
} from './command-lines.ts';
import { ControlPlaneFailed } from './control-plane.ts';
import type { Component, ControlPlane, ControlPlaneOptions } from './control-plane.ts';
import { createCredentials } from './credentials.ts';
import { kubectlWith } from './kubectl.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { Identity } from './kubeconfig.ts';
import { launch } from './managed-process.ts';
import type { ManagedProcess } from './managed-process.ts';
import { addNode } from './nodes.ts';
import { freePorts } from './ports.ts';
import { untilReady } from './ready.ts';
import { gangsOf, RELEASE, type Release } from './releases.ts';
import { startWatchdog } from './watchdog.ts';

/** How long the API server may take to end in good order (ms). While anybody watches anything, it never does. */
const GRACE = 2_000;

/** The programs that a control plane is made of, in the order in which they would be built. */
export const programsOf = ({
  scheduler,
  controllerManager,
}: Pick<ControlPlaneOptions, 'scheduler' | 'controllerManager'>): readonly Binary[] =>
  BINARIES.filter(
    (binary) =>
      (scheduler || binary !== 'kube-scheduler') &&
      (controllerManager || binary !== 'kube-controller-manager'),
  );

/** Where temporary folders of control planes are made: in a run of the tests they lie in memory (temporary-folder.ts). */
export const stateFolder = (): string => process.env['TESTING_MUSTER_STATE'] ?? tmpdir();

/**
 * Starts etcd and an API server, and a scheduler and a controller manager if asked, and waits until all are ready.
 * Any number may run at once. Everything ends with `stop()`, or with this process, however that dies.
 *
 * @throws ControlPlaneUnavailable when there are no binaries; ControlPlaneFailed when a program does not start.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(options);
    } catch (error) {
      // Between finding a port free and listening on it somebody else was quicker.
      const portTaken =
        error instanceof ControlPlaneFailed && error.message.includes('address already in use');
      if (!portTaken || attempt === 3) throw error;
    }
  }
}

async function start(options: ControlPlaneOptions): Promise<ControlPlane> {
  const {
    log,
    build = true,
    scheduler = false,
    controllerManager = false,
    auditPolicy = false,
    signal,
  } = options;
  const need = programsOf({ scheduler, controllerManager });
  const binariesOf = (of: Release) => locateBinaries({ need, build, release: of, ...(log ? { log } : {}) });
  let release = options.release ?? RELEASE;
  let binaries = await binariesOf(release);
  signal?.throwIfAborted();

  const temporary = options.dir === undefined;
  const dir =
    options.dir === undefined
      ? await mkdtemp(join(stateFolder(), 'muster-control-plane-'))
      : resolve(options.dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const watchdog = startWatchdog(temporary ? dir : undefined);
  const running = new Map<Component, ManagedProcess>();
  const clients: Client[] = [];

  const run = async (name: Component, args: readonly string[]): Promise<ManagedProcess> => {
    const process = await launch({ name, path: binaries[name], args, dir, watchdog });
    running.set(name, process);
    return process;
  };
  const stop = async (): Promise<void> => {
    for (const client of clients) client.close();
    // Clients before the server, the server before its store: otherwise each would spend its end on retries.
    await Promise.all(['kube-scheduler' as const, 'kube-controller-manager' as const].map(end));
    await end('kube-apiserver');
    await end('etcd');
    await watchdog.dismiss();
    if (temporary) await rm(dir, { recursive: true, force: true });
  };
  // Nothing that they hold is wanted any more, so they are not asked to end in good order.
  const end = async (name: Component): Promise<void> => running.get(name)?.stop(0);

  try {
    const [etcdPort = 0, etcdPeerPort = 0, port = 0, schedulerPort = 0, controllerPort = 0] =
      await freePorts(5);
    const etcd = await run(
      'etcd',
      etcdArguments({ dataDir: join(dir, 'etcd'), clientPort: etcdPort, peerPort: etcdPeerPort }),
    );
    const credentials = await createCredentials(dir);
    const audit =
      auditPolicy && (await writeAuditPolicy(dir, auditPolicy === true ? 'Request' : auditPolicy));
    const featureGates = (): Readonly<Record<string, boolean>> => ({
      ...release.featureGates,
      ...options.featureGates,
    });
    const startApiServer = async (abort?: AbortSignal): Promise<void> => {
      const previous = running.get('kube-apiserver');
      if (previous && previous.ended() === undefined) return;
      const gangs = gangsOf(release);
      const args = apiServerArguments({
        etcdPort,
        port,
        credentials,
        featureGates: featureGates(),
        runtimeConfig: { ...(gangs && { [gangs]: 'true' }), ...options.runtimeConfig },
        ...(audit ? { audit } : {}),
        admissionControlConfigFile: options.admissionControlConfigFile,
        extra: options.extraApiServerArgs ?? [],
      });
      await untilReady([await run('kube-apiserver', args), etcd], port, '/readyz', abort);
    };
    const stopApiServer = async ({ kill = false } = {}): Promise<void> =>
      running.get('kube-apiserver')?.stop(kill ? 0 : GRACE);
    await startApiServer(signal);

    const url = `https://127.0.0.1:${port}`;
    const caFile = credentials.serving.certificateFile;
    const ca = await readFile(caFile, 'utf8');
    let kubeconfigs = 0;
    const kubeconfigOf = (identity: Identity, name?: string): Promise<string> => {
      kubeconfigs += 1;
      return writeKubeconfig(join(credentials.folder, `${name ?? kubeconfigs}.kubeconfig`), {
        url,
        ca,
        identity,
      });
    };
    const kubeconfig = await kubeconfigOf({ token: credentials.tokens.admin }, 'admin');

    const schedulerKubeconfig = await kubeconfigOf({ token: credentials.tokens.scheduler }, 'scheduler');
    const managerKubeconfig = await kubeconfigOf(
      { token: credentials.tokens.controllerManager },
      'controller-manager',
    );
    const startScheduler = async (): Promise<void> => {
      const args = schedulerArguments({
        kubeconfig: schedulerKubeconfig,
        port: schedulerPort,
        credentials,
        featureGates: featureGates(),
      });
      await untilReady([await run('kube-scheduler', args)], schedulerPort, '/healthz', signal);
    };
    const { nodeGraceSeconds, withoutControllers: without = [] } = options;
    const startControllerManager = async (): Promise<void> => {
      const args = controllerManagerArguments({
        kubeconfig: managerKubeconfig,
        port: controllerPort,
        featureGates: featureGates(),
        credentials,
        nodeGraceSeconds,
        without,
      });
      await untilReady([await run('kube-controller-manager', args)], controllerPort, '/healthz', signal);
    };
    const startClients = () =>
      Promise.all([scheduler && startScheduler(), controllerManager && startControllerManager()]);
    await startClients();

    const clientFor = async (path: string): Promise<Client> => {
      const client = await createClient(path);
      clients.push(client);
      return client;
    };
    const client = await clientFor(kubeconfig);
    const { gitVersion } = await client.ok<{ gitVersion: string }>('GET', '/version');
    return {
      version: gitVersion,
      url,
      etcdUrl: `http://127.0.0.1:${etcdPort}`,
      schedulerUrl: `https://127.0.0.1:${schedulerPort}`,
      caFile,
      dir,
      binaries,
      kubeconfig,
      kubeconfigFor: (user, groups = []) =>
        kubeconfigOf(credentials.clientAuthority.issue(user, groups.length > 0 ? groups : groupsOf(user))),
      client,
      clientFor,
      kubectl: kubectlWith(binaries.kubectl, kubeconfig, join(dir, 'kubectl-cache')),
      ...(audit ? { auditLog: audit.logFile } : {}),
      addNode: (name, size) => addNode(client, name, size),
      killScheduler: async () => running.get('kube-scheduler')?.stop(0),
      startScheduler,
      stopApiServer,
      startApiServer: () => startApiServer(),
      become: async (next, meanwhile) => {
        const former = ['kube-scheduler', 'kube-controller-manager'] as const;
        await Promise.all(former.map(end));
        await stopApiServer();
        await meanwhile?.();
        [release, binaries] = [next, await binariesOf(next)];
        await startApiServer();
        await startClients();
      },
      restartApiServer: async () => {
        await stopApiServer();
        await startApiServer();
      },
      logs: (name) => readFile(join(dir, `${name}.log`), 'utf8'),
      pids: () => {
        const alive = [...running].filter(([, process]) => process.ended() === undefined);
        return Object.fromEntries(alive.map(([name, process]) => [name, process.pid]));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The groups that a service account has by its token; of anybody else we know none. */
function groupsOf(user: string): readonly string[] {
  const namespace = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user)?.[1];
  return namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
