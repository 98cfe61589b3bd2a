import { MUSTER_NAMESPACE } from '../../../src/api/names.ts';
import { OTHER_BACKENDS } from '../../support/manifests.ts';
import { USUAL_SCHEDULER, type Serving } from '../../support/serving.ts';
import type { ControlPlane, ControlPlaneOptions } from '../control-plane/control-plane.ts';
import { startControlPlane } from '../control-plane/start.ts';
import { until } from '../control-plane/until.ts';
import { applyAll } from './apply.ts';
import { grantRights, startLoopingReplica } from './looping-muster.ts';
import { observeEventsOf } from './observed-events.ts';
import { certificateDirectory, NAMESPACE, register, startReplica } from './registered-muster.ts';

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${MUSTER_NAMESPACE}/leases/muster-leader-election`;

export interface WithMuster {
  /** Of the control plane: API server and etcd alone, unless more is asked for. */
  readonly plane?: ControlPlaneOptions;
  /**
   * What runs: the program with its loop under the rights of its own account; a replica that only answers reviews; or
   * nothing yet, where a test starts its replicas itself. The rights of the base are granted in any case, those of a
   * component with the first replica that has its profile. Default `loop`.
   */
  readonly muster?: 'loop' | 'admission' | 'none';
  /** Whether the API server calls it. Default: where something runs. */
  readonly webhooks?: boolean;
  /** Of Muster, beside the usual ones. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Flags of Node for the program. */
  readonly node?: readonly string[];
  /** CPUs of the one node; none without. */
  readonly cpu?: number | undefined;
}

/** A control plane with Muster on it, its certificates, rights and webhooks; `close()` takes all of it away. */
export interface OnMuster {
  readonly plane: ControlPlane;
  /** Of the serving certificate: its folder, and the PEM of its authority. */
  readonly certificates: { readonly path: string; readonly ca: string };
  /** The replica that runs now. */
  readonly muster: Serving;
  /** One more with a loop, ready; `close()` ends it too. */
  start(settings?: Readonly<Record<string, unknown>>): Promise<Serving>;
  /** Takes one that was started as the one that runs now, and tells the API server where it is. */
  put(replica: Serving): Promise<void>;
  /** Another process in place of the one that runs; the API server is told where it is. */
  restart(settings?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Does something before everything else is taken away, the last one first. */
  before(end: () => Promise<unknown>): void;
  close(): Promise<void>;
}

export async function withMuster(given: WithMuster = {}): Promise<OnMuster> {
  const { muster: kind = 'loop', webhooks = kind !== 'none', settings = {} } = given;
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const certificates = await certificateDirectory();
    ends.push(certificates.remove);
    const plane = await startControlPlane(given.plane);
    ends.push(() => plane.stop());
    ends.push(() => observeEventsOf(plane));
    await grantRights(plane, []);
    await applyAll(plane.client, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }]);
    if (given.cpu !== undefined) await plane.addNode('node-1', { cpu: given.cpu });

    const start = async (other: Readonly<Record<string, unknown>> = settings): Promise<Serving> => {
      await grantRights(plane, componentsOf(other));
      const replica = await startLoopingReplica(plane, certificates.path, other, undefined, given.node);
      ends.push(() => replica.close());
      await untilReady(replica);
      return replica;
    };
    let current: Serving | undefined;
    const running = (): Serving => {
      if (current === undefined) throw new Error('no Muster was asked for');
      return current;
    };
    const put = async (replica: Serving): Promise<void> => {
      current = replica;
      if (webhooks) await register(plane, replica.port, certificates.ca, true);
    };
    if (kind === 'loop') await put(await start());
    if (kind === 'admission') {
      const replica = await startReplica(certificates.path, undefined, settings);
      ends.push(() => replica.close());
      await put(replica);
    }
    return {
      plane,
      certificates,
      get muster() {
        return running();
      },
      start,
      put,
      restart: async (other) => {
        await running().close();
        // It was killed, so it did not give its Lease up: the next one need not wait until that has run out.
        await plane.client.request('DELETE', LEASE).catch(() => undefined);
        await put(await start(other));
      },
      before: (end) => void ends.push(end),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What an operator with this configuration adds to the base, and nothing else: a right that is missing there fails a test. */
function componentsOf({
  scheduler = USUAL_SCHEDULER,
  preemption = {},
  hpc = {},
}: Readonly<Record<string, unknown>>): string[] {
  const { profiles } = scheduler as typeof USUAL_SCHEDULER;
  const { preview } = preemption as { preview?: boolean };
  return [
    ...profiles.map(({ name }) => name).filter((name) => OTHER_BACKENDS.includes(name)),
    ...(preview === true ? ['preemption-preview'] : []),
    ...((hpc as { enabled?: boolean }).enabled === true ? ['hpc'] : []),
  ];
}

export const untilReady = ({ healthPort }: Serving): Promise<boolean> =>
  until('Muster is ready', async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status === 200);

/** The times of the Lease as they are by default, where the ones of the tests are shorter. */
export const DEFAULT_LEASE = { leaderElection: { resourceNamespace: MUSTER_NAMESPACE } };
