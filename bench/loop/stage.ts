import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { MUSTER_USER } from '../../src/api/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { POD_GANGS, PODS } from '../../src/kube/client/resources.ts';
import type { ControlPlane, ControlPlaneOptions } from '../../test/cluster/control-plane/control-plane.ts';
import { startControlPlane } from '../../test/cluster/control-plane/start.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { grantRights } from '../../test/cluster/support/looping-muster.ts';
import { WITHOUT_NATIVE_GANGS } from '../../test/cluster/support/small-gangs.ts';
import type { BareAnswer, BareRequest } from './bare.ts';
import type { GangNames } from './bare-watching.ts';
import { benchGang, benchPod, type Contender } from './objects.ts';
import { writeAudit } from './writes.ts';
import type { Placement } from '../measure/placement.ts';
import { startServer, type RunningServer, type Scratch, type StartOptions } from '../admission/servers.ts';

/** A control plane, a Muster that leads on it, and clients that may do everything. */
export interface LoopStage {
  readonly plane: ControlPlane;
  /** Creates Pods; `CREATORS` connections. */
  readonly client: KubeClient;
  readonly auditLog: string;
  /**
   * A Muster with its loop under its own account, which has shown that it leads.
   * @param given where it is not with the image's flags, and straight to the API server
   */
  startMuster(given?: MusterOptions): Promise<RunningServer>;
  /** A webhook that decides nothing, beside whatever else happens. */
  startBareWebhook(opened: Opened): Promise<RunningServer>;
  /** @param kubeconfig where it is not straight to the API server */
  startBare(contender: Exclude<Contender, 'muster'>, kubeconfig?: string): BareClient;
  createNamespace(name: string): Promise<void>;
  /** The PodGangs first, so that Muster has nothing to say of Pods without one; until no Pod is left. */
  empty(namespace: string): Promise<void>;
  stop(): Promise<void>;
}

interface MusterOptions extends Pick<StartOptions, 'nodeFlags' | 'kubeconfig'> {
  /** Called when its port of the webhooks is open, while it still lists. */
  readonly opened?: Opened;
}

type Opened = (server: RunningServer, scratch: Pick<Scratch, 'caFile'>) => void;

export interface BareClient {
  readonly pid: number;
  /** Tells it what it will have to do, and lets it connect. */
  know(namespace: string, gangs: readonly GangNames[]): Promise<void>;
  /** Until the last answer. */
  go(): Promise<void>;
  stop(): Promise<void>;
}

export const CREATORS = 16;
const PROBE = 'bench-probe';
/** Fewer would let the clean-up last as long as the measurement. */
const API_SERVER_ARGS = ['--delete-collection-workers=16'];
/** Nothing has a core of its own: API server and etcd use all there are, as everybody else. */
export const ANYWHERE: Placement = { onServerCore: [], onClientCore: [], description: 'nothing is pinned' };

export async function startStage(
  scratch: Scratch,
  more: Pick<ControlPlaneOptions, 'controllerManager'> = {},
): Promise<LoopStage> {
  const audit = writeAudit(scratch.folder);
  const plane = await startControlPlane({
    // The loop alone is measured: with native gangs the backend would write objects of its own for each gang.
    ...WITHOUT_NATIVE_GANGS,
    ...more,
    extraApiServerArgs: [...API_SERVER_ARGS, ...audit.args],
  });
  try {
    await grantRights(plane);
    const musterKubeconfig = await plane.kubeconfigFor(MUSTER_USER);
    const connection = await findConnection({ kubeconfig: plane.kubeconfig });
    const client = createKubeClient(connection, { connections: CREATORS, userAgent: 'bench' });
    const createNamespace = async (name: string): Promise<void> => {
      await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name } });
    };
    await createNamespace(PROBE);
    const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
    const gangs = (namespace: string): string =>
      `/apis/${POD_GANGS.group}/${POD_GANGS.version}/namespaces/${namespace}/${POD_GANGS.plural}`;
    let probes = 0;
    return {
      plane,
      client,
      auditLog: audit.logFile,
      startMuster: async (given) => {
        const options = { placement: ANYWHERE, kubeconfig: musterKubeconfig, ...given };
        const muster = await startServer('muster', scratch, options);
        given?.opened?.(muster, scratch);
        const at = probes++;
        const gang = benchGang(PROBE, at, { gangs: 1, podsPerGang: 1 });
        await client.create(POD_GANGS, gang);
        // Without its Pod the gang would be told what it waits for only after two or three seconds.
        await client.create(PODS, benchPod(PROBE, { gang: at, index: 0, contender: 'muster' }));
        await until('Muster writes a status', async () => {
          const target = { resource: POD_GANGS, namespace: PROBE, name: gang.metadata.name };
          return (await client.get(target)).status !== undefined;
        });
        return muster;
      },
      startBareWebhook: async (opened) => {
        const webhook = await startServer('bare', scratch, { placement: ANYWHERE });
        opened(webhook, scratch);
        return webhook;
      },
      startBare: (contender, kubeconfig = musterKubeconfig) => startBare(kubeconfig, contender),
      createNamespace,
      empty: async (namespace) => {
        const query = { gracePeriodSeconds: 0 };
        await plane.client.ok('DELETE', gangs(namespace), undefined, { query });
        await plane.client.ok('DELETE', pods(namespace), undefined, { query });
      },
      stop: async () => {
        await client.close();
        await plane.stop();
      },
    };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

function startBare(kubeconfig: string, contender: string): BareClient {
  const child = fork(join(import.meta.dirname, 'bare.ts'), [kubeconfig, contender]);
  const ask = async (request: BareRequest): Promise<void> => {
    const over = new AbortController();
    const answered = once(child, 'message', { signal: over.signal }) as Promise<[BareAnswer]>;
    const ended = once(child, 'exit', { signal: over.signal }).then(
      () => [{ failed: 'it has ended' }] as const,
    );
    child.send(request);
    const [answer] = await Promise.race([answered, ended]);
    for (const late of [answered, ended]) late.catch(() => undefined);
    over.abort();
    if (answer !== 'ready' && answer !== 'done') throw new Error(`bare client: ${JSON.stringify(answer)}`);
  };
  return {
    pid: child.pid ?? 0,
    know: (namespace, gangs) => ask({ know: { namespace, gangs } }),
    go: () => ask('go'),
    stop: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
