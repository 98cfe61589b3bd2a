import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunConfig } from '../../../release/image/dockerfile.ts';

/** Why no container can be run here; undefined where one can. */
export function noContainers(): string | undefined {
  if (spawnSync('runc', ['--version']).status !== 0)
    return 'runc is not here: it is in Debian’s package runc';
  if (spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0)
    return 'this user may not make namespaces';
  return undefined;
}

/** The syscalls that a runtime allows without being asked, in Debian's package golang-github-containers-common. */
const SECCOMP = '/usr/share/containers/seccomp.json';
interface SeccompProfile {
  readonly archMap: readonly {
    readonly architecture: string;
    readonly subArchitectures: readonly string[];
  }[];
  readonly syscalls: readonly {
    readonly includes: { readonly arches?: readonly string[]; readonly caps?: readonly string[] };
  }[];
}

/** The default profile as it is for a container without capabilities; undefined where the machine has none. */
export function defaultSeccomp(): object | undefined {
  if (!existsSync(SECCOMP)) return undefined;
  const { archMap, syscalls, ...rest } = JSON.parse(readFileSync(SECCOMP, 'utf8')) as SeccompProfile;
  const [machine, goName] =
    process.arch === 'arm64' ? ['SCMP_ARCH_AARCH64', 'arm64'] : ['SCMP_ARCH_X86_64', 'amd64'];
  const own = archMap.find(({ architecture }) => architecture === machine);
  const granted = syscalls.filter(
    ({ includes }) => includes.caps === undefined && (includes.arches?.includes(goName) ?? true),
  );
  return {
    ...rest,
    defaultErrno: undefined,
    architectures: [machine, ...(own?.subArchitectures ?? [])],
    syscalls: granted,
  };
}

export interface Container {
  readonly runc: ChildProcess;
  /** Standard output and error so far. */
  output(): string;
  /** What the kernel says of the first process, by field of /proc/PID/status. */
  status(): Readonly<Record<string, string>>;
  /** The kernel's list of the mounts that the first process sees. */
  mounts(): string;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
  /** Ends and forgets it, however far it came. */
  remove(): void;
}

const CONFIGURATION = `apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
logFormat: json
server:
  webhooks: { bindAddress: 127.0.0.1, drain: { seconds: 1, maxSeconds: 5 } }
  healthProbes: { bindAddress: 127.0.0.1 }
  metrics: { bindAddress: 127.0.0.1 }
`;

/** `muster serve` in a container, with the arguments of the Deployment but for ports, which are free ones. */
export function serveInContainer(
  folder: string,
  { rootfs, config }: { readonly rootfs: string; readonly config: RunConfig },
  certificates: string,
): Container {
  const own = join(folder, 'config');
  mkdirSync(own);
  writeFileSync(join(own, 'config.yaml'), CONFIGURATION);
  spawnSync('chown', ['-R', config.User, certificates]);
  const files = ['--config=/etc/muster/config/config.yaml', '--cert-dir=/etc/muster/certs'];
  const ports = ['--port=0', '--health-port=0', '--metrics-port=0'];
  return runContainer({
    folder,
    rootfs,
    config,
    args: ['serve', '--no-controller', ...files, ...ports],
    mounts: { '/etc/muster/config': own, '/etc/muster/certs': certificates },
  });
}

/**
 * Runs the image as manifests/base/deployment.yaml has it run: its user, a root that is read-only, no capabilities, no new
 * privileges, the default profile of seccomp. The network is the host's, so that the test reaches its loopback.
 * @param folder for what belongs to the container
 * @param mounts folders of the host by their place in the container, read-only
 */
function runContainer(given: {
  readonly folder: string;
  readonly rootfs: string;
  readonly config: RunConfig;
  readonly args: readonly string[];
  readonly mounts: Readonly<Record<string, string>>;
}): Container {
  const { folder, rootfs, config, args, mounts } = given;
  const [uid = 0, gid = 0] = config.User.split(':').map(Number);
  const bundle = join(folder, 'bundle');
  mkdirSync(bundle);
  const bind = Object.entries(mounts).map(([destination, source]) => ({
    destination,
    source,
    type: 'bind',
    options: ['rbind', 'ro', 'nosuid', 'nodev', 'noexec'],
  }));
  const spec = {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...config.Entrypoint, ...args],
      env: config.Env,
      cwd: config.WorkingDir,
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=65536k'] },
      ...bind,
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      seccomp: defaultSeccomp(),
    },
  };
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec));
  const id = `muster-image-${process.pid}-${Date.now()}`;
  const root = ['--root', join(folder, 'runc')];
  const runc = spawn('runc', [...root, 'run', '--bundle', bundle, id], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [runc.stdout, runc.stderr])
    stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  const ofProcess = (file: string): string => {
    const { stdout, stderr } = spawnSync('runc', [...root, 'state', id], { encoding: 'utf8' });
    if (stdout === '') throw new Error(`there is no container: ${stderr}${output}`);
    return readFileSync(`/proc/${(JSON.parse(stdout) as { pid: number }).pid}/${file}`, 'utf8');
  };
  return {
    runc,
    output: () => output,
    status: () =>
      Object.fromEntries(
        ofProcess('status')
          .split('\n')
          .map((line) => line.split(':\t') as [string, string]),
      ),
    mounts: () => ofProcess('mountinfo'),
    exited: once(runc, 'exit').then(([code]) => code as number | null),
    remove: () => {
      spawnSync('runc', [...root, 'delete', '--force', id]);
    },
  };
}
