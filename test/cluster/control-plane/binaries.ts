import { constants, existsSync } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { withBuildLock } from './build-lock.ts';
import { compile, GoFailed } from './compile.ts';
import { DEFAULT_RELEASE, RELEASE, type Release } from './releases.ts';

/** In the order in which they are built: with the first three most of what there is can be seen already. */
export const BINARIES = [
  'etcd',
  'kube-apiserver',
  'kubectl',
  'kube-scheduler',
  'kube-controller-manager',
] as const;
export type Binary = (typeof BINARIES)[number];

const PACKAGES: Readonly<Record<Binary, string>> = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
};

/** Absolute path of each binary that was asked for. */
export type Binaries<B extends Binary = Binary> = Readonly<Record<B, string>>;

export interface LocateOptions<B extends Binary> {
  readonly need: readonly B[];
  /** Whether what is missing may be built with Go, which takes minutes the first time. */
  readonly build: boolean;
  /** Default: the one that this run is about. */
  readonly release?: Release | undefined;
  readonly log?: (line: string) => void;
}

/** The binaries are not here and could not be made; the message says which, where was looked, and what to do. */
export class ControlPlaneUnavailable extends Error {
  override readonly name = 'ControlPlaneUnavailable';
}

/**
 * Finds the programs of a control plane: first in the folder named by KUBEBUILDER_ASSETS (as `setup-envtest` fills it:
 * etcd, kube-apiserver, kubectl), then in our cache, else builds what is missing into the cache. Each binary is looked
 * for on its own, so an assets folder without a scheduler is completed from the cache.
 *
 * @throws ControlPlaneUnavailable
 */
export async function locateBinaries<B extends Binary>(options: LocateOptions<B>): Promise<Binaries<B>> {
  const { need, build, release = RELEASE, log = logToStderr } = options;
  const found = await look(need, release);
  const missing = need.filter((binary) => found[binary] === undefined);
  if (missing.length === 0) return found as Binaries<B>;
  if ((await onPath('go')) === undefined) throw unavailable(missing, release, NO_GO);
  if (!build) throw unavailable(missing, release, 'they have not been built yet');
  try {
    await buildMissing(missing, release, log);
  } catch (error) {
    if (error instanceof GoFailed) throw unavailable(missing, release, error.message, error);
    throw error;
  }
  const now = await look(need, release);
  const stillMissing = need.filter((binary) => now[binary] === undefined);
  if (stillMissing.length > 0) throw unavailable(stillMissing, release, 'the build left them out');
  return now as Binaries<B>;
}

/** Folder of the binaries that we build: survives the run, shared by all checkouts, one per release. */
export function cacheFolder(release: Release = RELEASE): string {
  const own = process.env['MUSTER_CONTROL_PLANE_DIR'];
  if (own && release === DEFAULT_RELEASE) return own;
  return join(cacheOfMuster(), 'control-plane', release.version);
}

export const cacheOfMuster = (): string =>
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'muster');

/** Whether a release's own programs have been built on this machine. */
export const isBuilt = (release: Release): boolean =>
  BINARIES.filter((binary) => !release.borrowed.includes(binary)).every((binary) =>
    existsSync(join(cacheFolder(release), binary)),
  );

export const NO_GO = '`go` is not on the PATH';

async function look(need: readonly Binary[], release: Release): Promise<Partial<Record<Binary, string>>> {
  const found: Partial<Record<Binary, string>> = {};
  for (const binary of need) {
    for (const folder of foldersFor(builtBy(release, binary))) {
      const path = join(folder, binary);
      if (!(await isExecutable(path))) continue;
      found[binary] = path;
      break;
    }
  }
  return found;
}

/** Whose build of a program serves for a release. */
const builtBy = (release: Release, binary: Binary): Release =>
  release.borrowed.includes(binary) ? DEFAULT_RELEASE : release;

function foldersFor(release: Release): string[] {
  // Nobody says which release the assets are of; they stand for the default one.
  const assets = release === DEFAULT_RELEASE ? process.env['KUBEBUILDER_ASSETS'] : undefined;
  return assets ? [assets, cacheFolder(release)] : [cacheFolder(release)];
}

async function buildMissing(
  missing: readonly Binary[],
  release: Release,
  log: (line: string) => void,
): Promise<void> {
  for (const builder of new Set(missing.map((binary) => builtBy(release, binary)))) {
    await buildRelease(
      builder,
      missing.filter((binary) => builtBy(release, binary) === builder),
      log,
    );
  }
}

async function buildRelease(
  release: Release,
  missing: readonly Binary[],
  log: (line: string) => void,
): Promise<void> {
  const folder = cacheFolder(release);
  await mkdir(folder, { recursive: true });
  const stillMissing = async (): Promise<readonly Binary[]> => {
    const found = await look(missing, release);
    return missing.filter((binary) => found[binary] === undefined);
  };
  await withBuildLock(
    join(folder, '.lock'),
    async () => {
      // Whoever held the lock before us may have built them.
      const need = await stillMissing();
      if (need.length === 0) return;
      await compile({
        programs: Object.fromEntries(need.map((binary) => [binary, PACKAGES[binary]])),
        module: release.module,
        name: `Kubernetes ${release.version}`,
        linkerFlags: stamps(release.version),
        folder,
        log,
      });
    },
    {
      told: async (owner) =>
        log(
          `process ${owner} is building the control plane; waiting for ${(await stillMissing()).join(', ')} ...`,
        ),
      // It may go on with programs that we do not need.
      enough: async () => (await stillMissing()).length === 0,
    },
  );
}

/** Unstamped, the API server reports v0.0.0. */
function stamps(version: string): string[] {
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((where) => [
    `-X ${where}.gitVersion=${version}`,
    `-X ${where}.gitMajor=${major}`,
    `-X ${where}.gitMinor=${minor}`,
  ]);
}

function unavailable(
  missing: readonly Binary[],
  release: Release,
  reason: string,
  cause?: Error,
): ControlPlaneUnavailable {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  return new ControlPlaneUnavailable(
    [
      `no control plane of Kubernetes ${release.version}: ${missing.join(', ')} missing, and ${reason}`,
      `  looked in: ${assets ? `${assets} (KUBEBUILDER_ASSETS)` : 'KUBEBUILDER_ASSETS (not set)'}, ${cacheFolder(release)}`,
      '  to get them: with Go 1.26 or newer on the PATH run `npm run control-plane` (about 10 minutes, once),',
      '  or let KUBEBUILDER_ASSETS name a folder that has them',
    ].join('\n'),
    { cause },
  );
}

/** Absolute path of a program on the PATH. */
export async function onPath(program: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, program);
    if (folder !== '' && (await isExecutable(path))) return path;
  }
  return undefined;
}

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Progress belongs on stderr: stdout is for results. */
export function logToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
