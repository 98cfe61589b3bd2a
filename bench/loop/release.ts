import { setTimeout as delay } from 'node:timers/promises';
import { LABEL_MANAGED_BY, MANAGED_BY_GROVE } from '../../src/api/names.ts';
import { POD_GANGS, PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { inParallel } from '../measure/in-parallel.ts';
import type { GateObserver } from './observer.ts';
import {
  benchGang,
  benchPod,
  gangName,
  gangNames,
  gangOf,
  podsInTurn,
  type Contender,
  type Shape,
} from './objects.ts';
import { fineCpuMicrosOf } from '../measure/process-usage.ts';
import type { RunningServer } from '../admission/servers.ts';
import { CREATORS, type BareClient, type LoopStage } from './stage.ts';
import { countWrites, type Writes } from './writes.ts';

/** Taking the gates off all Pods of a shape, once. */
export interface Release {
  readonly contender: Contender;
  /** From the answer to the last creation to the sight of the last Pod without a gate, milliseconds. */
  readonly ms: number;
  /** Gates that were off already when the last Pod was created: where gangs become complete one after another. */
  readonly before: number;
  /** CPU time in that time, milliseconds: of the contender, and of API server and etcd. Steadier than the time itself. */
  readonly ownCpuMs: number;
  readonly serverCpuMs: number;
  /** Of Muster. */
  readonly writes?: Writes;
}

export interface ReleaseSetting {
  readonly stage: LoopStage;
  readonly observer: GateObserver;
  readonly bare: BareClient;
  readonly watching: BareClient;
  readonly muster: RunningServer;
}

/** Far more than it takes on any machine (ms). */
export const PATIENCE = 180_000;
/** For what is still under way of the round before: Events, deletions, the API server's garbage (ms). */
export const REST = 1_500;

interface ReleaseOptions {
  readonly order?: 'PodGang first' | 'Pods first';
  readonly podOf?: typeof benchPod;
}

/** Creates everything, waits until the last gate is off, removes everything. */
export async function release(
  contender: Contender,
  namespace: string,
  shape: Shape,
  setting: ReleaseSetting,
  { order = 'PodGang first', podOf = benchPod }: ReleaseOptions = {},
): Promise<Release> {
  const { stage, observer, muster } = setting;
  const { client } = stage;
  const pods = podsInTurn(shape);
  const bare = contender === 'muster' ? undefined : setting[contender];
  await stage.createNamespace(namespace);
  if (contender === 'watching') await createGangs(namespace, shape, stage, NOT_MUSTERS);
  else if (contender === 'muster' && order === 'PodGang first') {
    await createGangs(namespace, shape, stage);
    await untilToldOf(namespace, shape, stage);
  }
  await bare?.know(namespace, gangNames(shape));
  await inParallel(pods, CREATORS, ({ gang, index }) =>
    client.create(PODS, podOf(namespace, { gang, index, contender }), { answer: 'metadata' }),
  );
  if (order === 'Pods first') {
    await createGangs(namespace, shape, stage);
    await untilToldOf(namespace, shape, stage);
  }
  const own = [(bare ?? muster).pid];
  const servers = Object.values(stage.plane.pids());
  const [ownBefore, serversBefore] = [cpuMs(own), cpuMs(servers)];
  const completeAt = performance.now();
  const before = observer.of(namespace).gateOffAt.size;
  const [lastAt] = await Promise.all([observer.gatesOff(namespace, pods.length, PATIENCE), bare?.go()]);
  const [ownCpuMs, serverCpuMs] = [cpuMs(own) - ownBefore, cpuMs(servers) - serversBefore];
  await delay(REST);
  const writes = contender === 'muster' ? { writes: countWrites(stage.auditLog, namespace) } : {};
  await stage.empty(namespace);
  await observer.gone(namespace, PATIENCE);
  await delay(REST);
  return { contender, ms: lastAt - completeAt, before, ownCpuMs, serverCpuMs, ...writes };
}

const cpuMs = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + fineCpuMicrosOf(pid), 0) / 1000;

/** PodGangs that Muster sees and leaves to somebody else. */
const NOT_MUSTERS = { [LABEL_MANAGED_BY]: MANAGED_BY_GROVE };

export async function createGangs(
  namespace: string,
  shape: Shape,
  { client }: LoopStage,
  labels?: Readonly<Record<string, string>>,
): Promise<void> {
  const gangs = Array.from({ length: shape.gangs }, (_, gang) => gang);
  await inParallel(gangs, CREATORS, (gang) =>
    client.create(POD_GANGS, benchGang(namespace, gang, shape, labels)),
  );
}

/** Until Muster has said of each gang that it waits for Pods. */
export async function untilToldOf(namespace: string, { gangs }: Shape, { client }: LoopStage): Promise<void> {
  await until('Muster has seen every gang', async () => {
    const { items } = await client.list<KubeObject>(POD_GANGS, { namespace });
    return items.length === gangs && items.every(({ status }) => status !== undefined);
  });
}

/** Controllers that make Pods have so many workers: each makes one gang, then the next. */
const ARRIVAL_CREATORS = 8;

/** How long Pods wait for their gate to come off once nothing is missing any more. */
export interface Arrivals {
  /** One per Pod, milliseconds: from its gang's last Pod being created to its own gate seen off. */
  readonly waits: readonly number[];
  /** From the first creation to the last, milliseconds. */
  readonly creatingMs: number;
}

/**
 * Several creators make one gang after another, first the PodGang, then its Pods one by one. So gangs become complete all
 * the time, while the API server is busy with the next ones.
 */
export async function arrive(
  namespace: string,
  shape: Shape,
  { stage, observer }: Pick<ReleaseSetting, 'stage' | 'observer'>,
): Promise<Arrivals> {
  const { client } = stage;
  await stage.createNamespace(namespace);
  const gangs = Array.from({ length: shape.gangs }, (_, gang) => gang);
  const completeAt = new Map<string, number>();
  const startedAt = performance.now();
  await inParallel(gangs, ARRIVAL_CREATORS, async (gang) => {
    await client.create(POD_GANGS, benchGang(namespace, gang, shape), { answer: 'metadata' });
    for (let index = 0; index < shape.podsPerGang; index += 1) {
      const pod = benchPod(namespace, { gang, index, contender: 'muster' });
      await client.create(PODS, pod, { answer: 'metadata' });
    }
    completeAt.set(gangName(gang), performance.now());
  });
  const creatingMs = performance.now() - startedAt;
  await observer.gatesOff(namespace, shape.gangs * shape.podsPerGang, PATIENCE);
  const waits = Array.from(
    observer.of(namespace).gateOffAt,
    ([pod, at]) => at - (completeAt.get(gangOf(pod)) ?? Number.NaN),
  );
  await stage.empty(namespace);
  await observer.gone(namespace, PATIENCE);
  await delay(REST);
  return { waits, creatingMs };
}
