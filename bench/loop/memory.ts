import { setTimeout as delay } from 'node:timers/promises';
import { POD_GANGS, PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import { until } from '../../test/cluster/control-plane/until.ts';
import { settledRss } from '../admission/growth.ts';
import { inParallel } from '../measure/in-parallel.ts';
import { bareListMs } from './bare-list.ts';
import { benchGang, benchPod, gangName, type Shape } from './objects.ts';
import { ReviewsMeanwhile } from './reviews-meanwhile.ts';
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
  /** Milliseconds from that process's start to its first write, for which it has to have listed everything. */
  readonly readyMs: number;
  /** Milliseconds in which a client that reads nothing receives the same lists, right before. */
  readonly bareMs: number;
  /** Milliseconds that each review took meanwhile. */
  readonly reviewWaits: readonly number[];
  /** The same of a webhook that decides nothing, while that client received the lists. */
  readonly bareWaits: readonly number[];
}

export interface MemoryTiming {
  readonly shape: Shape;
  /** Memory is watched this long (ms); the lowest counts. */
  readonly settleMs: number;
}

const NAMESPACE = 'crowd';
/** Gangs whose base gang is not there: all is prepared, nothing is released, every field of a record is in use. */
const BASE = 'not-there-yet';
/** Gangs to a base gang, as replicas of one PodCliqueSet. */
const PER_BASE = 10;
const PATIENCE = 3_600_000;

export async function measureMemory(
  stage: LoopStage,
  { shape, settleMs }: MemoryTiming,
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
  const { bareMs, bareWaits } = await bareLists(stage);
  progress(`memory: ${bareMs.toFixed(0)} ms for lists that nobody reads`);
  const startedAt = performance.now();
  const reviews = new ReviewsMeanwhile();
  const second = await stage.startMuster({ opened: (muster, scratch) => reviews.begin(muster, scratch) });
  const readyMs = performance.now() - startedAt;
  await reviews.end();
  progress(`memory: ${readyMs.toFixed(0)} ms from its start to its first write`);
  const listed = await sampleOf(second, settleMs);
  progress(`memory: ${describe(listed)} having listed them`);
  await second.stop();
  const target = { resource: PODS, namespace: NAMESPACE, name: `${gangName(0)}-worker-0` };
  const podBytes = JSON.stringify(await client.get(target)).length;
  return {
    pods: made,
    podBytes,
    empty,
    lived,
    listed,
    readyMs,
    bareMs,
    reviewWaits: reviews.waits,
    bareWaits,
  };
}

/** What lists cost who has nothing to do with them. */
async function bareLists(stage: LoopStage): Promise<Pick<LoopMemory, 'bareMs' | 'bareWaits'>> {
  const reviews = new ReviewsMeanwhile();
  const webhook = await stage.startBareWebhook((opened, scratch) => reviews.begin(opened, scratch));
  const bareMs = await bareListMs(stage.plane.kubeconfig);
  await reviews.end();
  await webhook.stop();
  return { bareMs, bareWaits: reviews.waits };
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
