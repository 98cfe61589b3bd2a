import { mkdir, mkdtemp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MUSTER_USER } from '../../src/api/names.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { PODS } from '../../src/kube/client/resources.ts';
import type { ControlPlane } from '../../test/cluster/control-plane/control-plane.ts';
import { freePorts } from '../../test/cluster/control-plane/ports.ts';
import { startControlPlane } from '../../test/cluster/control-plane/start.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import type { Watchdog } from '../../test/cluster/control-plane/watchdog.ts';
import { MountedSecret } from '../../test/cluster/support/mounted-secret.ts';
import { policiesInForce } from '../../test/cluster/support/policies-in-force.ts';
import { register } from '../../test/cluster/support/registered-muster.ts';
import { cpuMicrosOf } from '../measure/process-usage.ts';
import { Certificates } from '../soak/certificates.ts';
import { install, trust } from '../soak/installation.ts';
import { startNodes } from '../soak/kwok.ts';
import { Replicas } from '../soak/replicas.ts';
import { countedSoFar, etcdMiB, etcdMiBInUse, writesAGang } from './control-plane.ts';
import { aborted, type Ending } from './ending.ts';
import { createGangs, TEAM_NAMESPACES } from './gangs.ts';
import { GANG_SIZE, type ClusterOptions } from './options.ts';
import { Progress } from './progress.ts';
import { nothingMeasured, type ContenderRun, type Step } from './results.ts';
import { Steps } from './steps.ts';
import { Watched } from './watched.ts';

const HERE = resolve(import.meta.dirname, '../..');
const CONNECTIONS = 64;
/** etcd keeps two gibibytes, and each Pod is written six times: a cluster of this size compacts oftener than every five minutes. */
const COMPACTS = ['--etcd-compaction-interval=1m'];
/** Of a node: as many Pods as its kubelet takes by default, and CPU for all of them. */
const ROOMY = { cpu: 16, memory: '64Gi', pods: 110 };

const LOOK_MS = 1_000;
/** Of one processor. */
const AT_REST = 0.2;

export interface Contest {
  readonly kwok: string;
  readonly dir: string;
  readonly watchdog: Watchdog;
  readonly ending: Ending;
  /** Called after each tenth with all that is known until then. */
  readonly made: (run: ContenderRun) => void;
}

/** As many gangs as asked for on a control plane of their own, with Muster or as Pods alone; fewer where it is ended. */
export async function contend(
  kind: 'alone' | 'muster',
  options: Pick<ClusterOptions, 'pods' | 'nodes' | 'ahead'> & {
    /** Pods after which it is over, of those that its tenths are parts of; default: all. */
    readonly until?: number;
  },
  given: Contest,
  say: (line: string) => void,
): Promise<{ readonly kubernetes: string; readonly run: ContenderRun }> {
  const { watchdog, ending } = given;
  const { pods, nodes, ahead, until: last = pods } = options;
  const dir = join(given.dir, kind);
  await mkdir(dir, { recursive: true });
  const ends: (() => unknown)[] = [];
  let kubernetes = '';
  let run = nothingMeasured('');
  try {
    const plane = await startControlPlane({
      scheduler: true,
      extraApiServerArgs: COMPACTS,
      dir: join(dir, 'control-plane'),
      signal: ending.signal,
    });
    ends.push(() => plane.stop());
    kubernetes = plane.version;
    const muster = kind === 'muster' ? await startOneMuster(plane, dir, watchdog) : undefined;
    if (muster !== undefined) ends.push(muster.stop);
    for (const name of TEAM_NAMESPACES)
      await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name } });
    const kubelets = await startNodes(plane, {
      ...{ nodes, dir, watchdog, kwok: given.kwok, size: ROOMY, podsEnd: false },
    });
    ends.push(() => kubelets.stop(0));

    const connection = await findConnection({ kubeconfig: plane.kubeconfig });
    const client = createKubeClient(connection, { connections: CONNECTIONS, userAgent: 'bench' });
    ends.push(() => client.close());
    // The watch begins before them, with the gangs that warm everything up.
    const measured: { steps?: Steps; progress?: Progress } = {};
    const watched = new Watched((gang) => {
      measured.steps?.bound(gang);
      if (gang !== undefined) measured.progress?.bound();
    });
    const following = new AbortController();
    ends.push(() => following.abort());
    const { resourceVersion } = await client.list(PODS, { limit: 1 });
    const watching = watched
      .follow(client, resourceVersion, following.signal)
      .then(() => Promise.reject(new Error('the watch of the bench has ended')));
    const ended = aborted(ending.signal).then(() => 0);
    const { signal } = ending;
    const create = (from: number, to: number): Promise<number> =>
      Promise.race([
        createGangs({ client, watched, from, to, ahead, signal, podGangs: kind === 'muster' }),
        ...[watching, ended],
      ]);
    const pids = {
      ...plane.pids(),
      kwok: kubelets.pid,
      ...(muster !== undefined && { muster: muster.pid }),
    };
    const progress = (measured.progress = new Progress({ pids, still: ending.because }));
    const looking = setInterval(() => progress.look(performance.now()), LOOK_MS);
    ends.push(() => clearInterval(looking));
    await untilAtRest(plane);
    await create(0, ahead);
    await untilAtRest(plane);
    const before = await countedSoFar(plane);
    const soFar = async (
      done: readonly Step[],
      { bound, failed = 0, etcd }: { bound: number; failed?: number; etcd: number },
    ): Promise<ContenderRun> => {
      const now = await countedSoFar(plane);
      return {
        seconds: Number(done.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(1)),
        bound,
        ...(bound < last && { ended: ending.why() ?? 'it has not ended' }),
        etcd: Number(etcd.toFixed(1)),
        writes: writesAGang(before.writes, now.writes, bound / GANG_SIZE),
        watchesEnded: now.watchesEnded - before.watchesEnded,
        // Without gates a Pod is not bound too early.
        ...{ failed, early: kind === 'muster' ? watched.early : 0, steps: [...done] },
      };
    };
    let kept = Promise.resolve();
    const keep = async (step: Step, done: readonly Step[]): Promise<void> => {
      say(`${kind}: ${lineOf(step)}`);
      given.made((run = await soFar(done, { bound: step.pods, etcd: await etcdMiBInUse(plane) })));
    };
    const steps = (measured.steps = new Steps({
      ...{ pids, pods, calls: muster?.calls ?? (() => Promise.resolve(null)) },
      said: (step, done) => {
        const all = [...done];
        // One after the other, so that nothing older is kept over what is newer.
        kept = kept.then(() => keep(step, all)).catch(() => undefined);
      },
    }));
    ends.push(() => steps.end());
    const failed = await create(ahead, ahead + last / GANG_SIZE).catch((error: unknown) => {
      ending.because((error as Error).message);
      return 0;
    });
    const bound = steps.pods;
    const done = await steps.end();
    await kept;
    // What has been kept holds where the control plane does not answer any more.
    run = await etcdMiB(plane)
      .then((etcd) => soFar(done, { bound, failed, etcd }))
      .catch(() => ({ ...run, bound, ...(bound < last && { ended: ending.why() ?? '' }) }));
  } catch (error) {
    if (ending.why() === undefined) throw error;
    run = nothingMeasured(ending.why() ?? '');
  } finally {
    ending.over();
    for (const end of ends.reverse()) await end();
  }
  given.made(run);
  return { kubernetes, run };
}

/** The API server makes its description of all kinds anew after the last of them has come, and that takes it seconds. */
async function untilAtRest(plane: ControlPlane): Promise<void> {
  const pid = plane.pids()['kube-apiserver'] ?? 0;
  await until('the API server is at rest', async () => {
    const before = cpuMicrosOf(pid);
    await delay(LOOK_MS);
    return cpuMicrosOf(pid) - before < AT_REST * LOOK_MS * 1000;
  });
}

/** The built program with manifests, policies and webhooks of this checkout, which has shown that it is called. */
async function startOneMuster(plane: ControlPlane, dir: string, watchdog: Watchdog) {
  const [webhooks = 0, health = 0, metrics = 0] = await freePorts(3);
  const secret = new MountedSecret(await mkdtemp(join(dir, 'certificates-')));
  const bundleOf = (bundle: string) => ({ root: HERE, port: webhooks, bundle });
  const certificates = new Certificates(secret, (bundle) => trust(plane.client, bundleOf(bundle)));
  await certificates.begin();
  const replicas = new Replicas({
    ...{ slots: [{ webhooks, health, metrics }], dir, watchdog, certificates: secret.path },
    kubeconfig: await plane.kubeconfigFor(MUSTER_USER),
  });
  await install(plane.client, bundleOf(certificates.bundle));
  const { process } = await replicas.start(HERE);
  await register(plane, webhooks, certificates.bundle);
  await policiesInForce(plane.client);
  const calls = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const requests = text.matchAll(/^muster_kube_requests_total\{.*\} (\d+)$/gm);
    return [...requests].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  return { pid: process.pid, calls, stop: () => replicas.stop() };
}

const lineOf = ({ pods, seconds, releaseP50, releaseP99, memory, calls, cpu }: Step): string =>
  `${pods} Pods are bound, the last tenth in ${seconds} s; release p50 ${releaseP50} p99 ${releaseP99} ms; ${calls} calls a gang; ` +
  `MiB ${JSON.stringify(memory)}; ms of CPU a Pod ${JSON.stringify(cpu)}`;
