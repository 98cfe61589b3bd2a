import { setTimeout as delay } from 'node:timers/promises';
import { POD_GANGS, PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { settledRss } from '../admission/growth.ts';
import { inParallel } from '../measure/in-parallel.ts';
import { benchGang, benchPod, gangName, type Shape } from './objects.ts';
import { restart, type Restart } from './restart.ts';
import type { LoopStage } from './stage.ts';
import { peakRssMiBOf } from '../measure/process-usage.ts';
import type { RunningServer } from '../admission/servers.ts';

/** Memory of one Muster process, in MiB, without load. */
export interface MemorySample {
  readonly rss: number;
  readonly heapUsed: number;
  /** The most it ever was. */
  readonly peak: number;
}

export interface LoopMemory {
  readonly pods: number;
  /** Bytes of one Pod as the API server sends it. */
  readonly podBytes: number;
  /** It watches, and there is nothing. */
  readonly empty: MemorySample;
  /** The same process, which has seen all of them come and has dealt with their gangs. */
  readonly lived: MemorySample;
  /** Another process, started when all was there: it has listed them. */
  readonly listed: MemorySample;
  readonly restarts: readonly Restart[];
}

export interface MemoryTiming {
  readonly shape: Shape;
  /** Memory is watched this long (ms); the lowest counts. */
  readonly settleMs: number;
  readonly restarts: number;
}

const NAMESPACE = 'crowd';
/** Gangs whose base gang is not there: all is prepared, nothing is released, every field of a record is in use. */
const BASE = 'not-there-yet';
/** Gangs to a base gang, as replicas of one PodCliqueSet. */
const PER_BASE = 10;
const PATIENCE = 3_600_000;

export async function measureMemory(
  stage: LoopStage,
  { shape, settleMs, restarts: count }: MemoryTiming,
  progress: (line: string) => void,
): Promise<LoopMemory> {
  const { client } = stage;
  const first = await stage.startMuster();
  const empty = await sampleOf(first, settleMs);
  progress(`memory: ${describe(empty)} with nothing to watch`);
  await stage.createNamespace(NAMESPACE);
  let made = 0;
  const gangs = Array.from({ length: shape.gangs }, (_, gang) => gang);
  await inParallel(gangs, 16, async (gang) => {
    await client.create(POD_GANGS, benchGang(NAMESPACE, gang, shape), { answer: 'metadata' });
    const base = `${BASE}-${Math.floor(gang / PER_BASE)}`;
    for (let index = 0; index < shape.podsPerGang; index += 1) {
      const pod = benchPod(NAMESPACE, { gang, index, contender: 'muster', base });
      await client.create(PODS, pod, { answer: 'metadata' });
      made += 1;
      if (made % 5000 === 0) progress(`memory: ${made} Pods created`);
    }
  });
  await until('all gangs are Initialized', () => allInitialized(stage), {
    withinMs: PATIENCE,
    everyMs: 1000,
  });
  const lived = await sampleOf(first, settleMs);
  progress(`memory: ${describe(lived)} having seen ${made} Pods come`);
  await first.stop();
  const restarts: Restart[] = [];
  let listed = empty;
  while (restarts.length < count) {
    const { muster, ...took } = await restart(stage);
    restarts.push(took);
    progress(
      `memory: ${took.readyMs.toFixed(0)} ms from its start to its first write, ${took.bareMs.toFixed(0)} for lists that nobody reads`,
    );
    if (restarts.length === 1) {
      listed = await sampleOf(muster, settleMs);
      progress(`memory: ${describe(listed)} having listed them`);
    }
    await muster.stop();
  }
  const target = { resource: PODS, namespace: NAMESPACE, name: `${gangName(0)}-worker-0` };
  const podBytes = JSON.stringify(await client.get(target)).length;
  return { pods: made, podBytes, empty, lived, listed, restarts };
}

async function allInitialized({ client }: LoopStage): Promise<boolean> {
  let next: string | undefined;
  do {
    const page = await client.list<KubeObject & { status?: { conditions?: Condition[] } }>(POD_GANGS, {
      namespace: NAMESPACE,
      limit: 500,
      continue: next,
    });
    if (!page.items.every(({ status }) => status?.conditions?.some(isInitialized) === true)) return false;
    next = page.continue;
  } while (next !== undefined);
  return true;
}

interface Condition {
  readonly type: string;
  readonly status: string;
}
const isInitialized = ({ type, status }: Condition): boolean => type === 'Initialized' && status === 'True';

/** After a rest in which Events are sent and V8 does what it does when nobody asks anything. */
async function sampleOf(muster: RunningServer, settleMs: number): Promise<MemorySample> {
  await delay(settleMs);
  const rss = await settledRss(muster.pid, settleMs);
  const metrics = await (await fetch(`http://127.0.0.1:${muster.metricsPort}/metrics`)).text();
  const heapUsed = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1]) / 2 ** 20;
  return { rss, heapUsed, peak: peakRssMiBOf(muster.pid) };
}

const describe = ({ rss, heapUsed, peak }: MemorySample): string =>
  `${rss.toFixed(0)} MiB (heap ${heapUsed.toFixed(0)}, peak ${peak.toFixed(0)})`;
