import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { POD_GANGS, PODS } from '../../../src/kube/client/resources.ts';
import { nodeFlagsOfImage } from '../../admission/servers.ts';
import { benchGang, benchPod, gangName, gangOf } from '../../loop/objects.ts';
import { GateObserver } from '../../loop/observer.ts';
import { startStage, type LoopStage } from '../../loop/stage.ts';
import { peakRssMiBOf } from '../../measure/process-usage.ts';
import { Helper } from '../helper.ts';
import type { Beside, HostileSetting, HostileTiming, Scenario } from '../scenario.ts';
import type { FloodJob } from './flooder.ts';
import type { Flood } from './floods.ts';

/** MiB: what Node makes of the limit of 512 MiB that the image’s container has. */
const HEAP = 256;
const PODS_PER_GANG = 2;
const GANGS_PER_SECOND = 12;
/** A gang that is not released by then has failed (ms). */
const PATIENCE = 30_000;

/** How soon a good neighbour’s gangs are released beside a flood in another namespace. */
export const besideFlood = (flood: Flood): Scenario => ({
  ...{ id: flood.id, title: flood.title },
  measure: (timing, setting) => measure(flood, timing, setting),
});

async function measure(flood: Flood, timing: HostileTiming, { scratch }: HostileSetting): Promise<Beside> {
  const stage = await startStage(scratch);
  const observer = new GateObserver();
  const job: FloodJob = { kubeconfig: stage.plane.kubeconfig, flood: flood.id };
  const flooder = new Helper(join(import.meta.dirname, 'flooder.ts'), ['nice', '-n', '19'], job);
  const calm: number[][] = [];
  const attacked: number[][] = [];
  const { rounds, roundMs } = timing.floods;
  const apiServer: Record<'calm' | 'attacked', number[][]> = { calm: [], attacked: [] };
  let [turns, failed, came] = [0, 0, ''];
  const turn = async (): Promise<GoodGangs> => {
    await delay(timing.settleMs);
    return goodGangs(stage, observer, `good-${++turns}`, roundMs);
  };
  const alone = async (): Promise<void> => {
    const { waits, creations, late } = await turn();
    calm.push(...waits);
    apiServer.calm.push(...creations);
    failed += late;
  };
  const besides = async (): Promise<void> => {
    const namespace = `flood-${turns}`;
    await stage.createNamespace(namespace);
    await flooder.ask({ begin: namespace });
    const { waits, creations, late } = await turn();
    attacked.push(...waits);
    apiServer.attacked.push(...creations);
    failed += late;
    came = await flooder.ask<string>('end');
  };
  try {
    await observer.start(stage.client);
    const muster = await stage.startMuster({
      nodeFlags: [...nodeFlagsOfImage(), `--max-old-space-size=${HEAP}`],
    });
    try {
      await turn(); // warms it up
      for (let round = 0; round < rounds; round += 1) {
        for (const half of round % 2 === 0 ? [alone, besides] : [besides, alone]) await half();
      }
      return { calm, attacked, apiServer, failed, peakMiB: peakRssMiBOf(muster.pid), attack: came };
    } finally {
      await muster.stop();
    }
  } finally {
    flooder.stop();
    await observer.stop();
    await stage.stop();
  }
}

interface GoodGangs {
  /** From a gang's last Pod being there to its last gate being off, a list for each second in which a gang was begun. */
  readonly waits: number[][];
  /** How long the API server took to create each Pod, in the same way. */
  readonly creations: number[][];
  readonly late: number;
}

/** A gang now and then for so long, whether or not the one before is released. */
async function goodGangs(
  stage: LoopStage,
  observer: GateObserver,
  namespace: string,
  ms: number,
): Promise<GoodGangs> {
  const { client } = stage;
  await stage.createNamespace(namespace);
  const creations: number[][] = [];
  const began: number[] = [];
  const completeAt: number[] = [];
  const since = performance.now();
  const secondOf = (gang: number): number => Math.floor((began[gang] ?? 0) / 1000);
  const make = async (gang: number): Promise<void> => {
    const shape = { gangs: 1, podsPerGang: PODS_PER_GANG };
    await client.create(POD_GANGS, benchGang(namespace, gang, shape), { answer: 'metadata' });
    for (let index = 0; index < PODS_PER_GANG; index += 1) {
      const pod = benchPod(namespace, { gang, index, contender: 'muster' });
      const at = performance.now();
      await client.create(PODS, pod, { answer: 'metadata' });
      (creations[secondOf(gang)] ??= []).push(performance.now() - at);
    }
    completeAt[gang] = performance.now();
  };
  const making: Promise<void>[] = [];
  for (let gang = 0; (gang * 1000) / GANGS_PER_SECOND < ms; gang += 1) {
    await delay(Math.max(0, since + (gang * 1000) / GANGS_PER_SECOND - performance.now()));
    began.push(performance.now() - since);
    making.push(make(gang));
  }
  await Promise.all(making);
  await observer.gatesOff(namespace, making.length * PODS_PER_GANG, PATIENCE).catch(() => undefined);
  const offAt = new Map<string, number>();
  const seen = new Map<string, number>();
  for (const [pod, at] of observer.of(namespace).gateOffAt) {
    const gang = gangOf(pod);
    offAt.set(gang, Math.max(offAt.get(gang) ?? 0, at));
    seen.set(gang, (seen.get(gang) ?? 0) + 1);
  }
  const waits: number[][] = [];
  let late = 0;
  for (const [gang, complete] of completeAt.entries()) {
    const name = gangName(gang);
    const released = seen.get(name) === PODS_PER_GANG;
    if (!released) late += 1;
    const wait = released ? Math.max(0, (offAt.get(name) ?? 0) - complete) : PATIENCE;
    (waits[secondOf(gang)] ??= []).push(wait);
  }
  await stage.empty(namespace);
  const whole = (seconds: number[][]): number[][] => seconds.filter(({ length }) => length > 0);
  return { waits: whole(waits), creations: whole(creations), late };
}
