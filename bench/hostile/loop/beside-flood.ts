import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { POD_GANGS, PODS } from '../../../src/kube/client/resources.ts';
import { nodeFlagsOfImage } from '../../admission/servers.ts';
import { benchGang, benchPod, gangName, gangOf } from '../../loop/objects.ts';
import { GateObserver } from '../../loop/observer.ts';
import { startStage, type LoopStage } from '../../loop/stage.ts';
import { quantile } from '../../measure/interval.ts';
import { peakRssMiBOf } from '../../measure/process-usage.ts';
import { Helper } from '../helper.ts';
import type { Beside, HostileSetting, HostileTiming, Scenario, Waits } from '../scenario.ts';
import type { FloodJob } from './flooder.ts';
import type { Flood } from './floods.ts';

/** MiB: what Node makes of the limit of 512 MiB that the image’s container has. */
const HEAP = 256;
const PODS_PER_GANG = 4;
/** A gang that is not released by then has failed (ms). */
const PATIENCE = 30_000;
/** Gangs are fewer than reviews: a turn of them takes so many times as long. */
const LONGER = 2;

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
  const rounds: { calm: Waits; attacked: Waits }[] = [];
  let [turns, failed, came] = [0, 0, ''];
  const turn = async (): Promise<Waits> => {
    await delay(timing.settleMs);
    const { waits, late } = await goodGangs(stage, observer, `good-${++turns}`, LONGER * timing.roundMs);
    failed += late;
    return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) };
  };
  const besides = async (): Promise<Waits> => {
    const namespace = `flood-${turns}`;
    await stage.createNamespace(namespace);
    await flooder.ask({ begin: namespace });
    const waits = await turn();
    came = await flooder.ask<string>('end');
    return waits;
  };
  try {
    await observer.start(stage.client);
    const muster = await stage.startMuster([...nodeFlagsOfImage(), `--max-old-space-size=${HEAP}`]);
    try {
      await turn(); // warms it up
      failed = 0;
      for (let round = 0; round < timing.rounds; round += 1) {
        const first = round % 2 === 0 ? await turn() : undefined;
        const attacked = await besides();
        rounds.push({ calm: first ?? (await turn()), attacked });
      }
      return { rounds, failed, peakMiB: peakRssMiBOf(muster.pid), attack: came };
    } finally {
      await muster.stop();
    }
  } finally {
    flooder.stop();
    await observer.stop();
    await stage.stop();
  }
}

/** One gang after another for so long; how long each waited, from its last Pod being there to its last gate being off. */
async function goodGangs(
  stage: LoopStage,
  observer: GateObserver,
  namespace: string,
  ms: number,
): Promise<{ waits: number[]; late: number }> {
  const { client } = stage;
  await stage.createNamespace(namespace);
  const waits: number[] = [];
  let late = 0;
  const until = performance.now() + ms;
  for (let gang = 0; gang === 0 || performance.now() < until; gang += 1) {
    const shape = { gangs: 1, podsPerGang: PODS_PER_GANG };
    await client.create(POD_GANGS, benchGang(namespace, gang, shape), { answer: 'metadata' });
    for (let index = 0; index < PODS_PER_GANG; index += 1) {
      const pod = benchPod(namespace, { gang, index, contender: 'muster' });
      await client.create(PODS, pod, { answer: 'metadata' });
    }
    const completeAt = performance.now();
    try {
      await observer.gatesOff(namespace, (gang + 1) * PODS_PER_GANG, PATIENCE);
      const off = [...observer.of(namespace).gateOffAt].filter(([pod]) => gangOf(pod) === gangName(gang));
      waits.push(Math.max(...off.map(([, at]) => at)) - completeAt);
    } catch {
      late += 1;
      waits.push(PATIENCE);
      break;
    }
  }
  await stage.empty(namespace);
  return { waits, late };
}
