import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MUSTER_USER } from '../../src/api/names.ts';
import { PODS, type KubeObject } from '../../src/kube/client/resources.ts';
import type { RunningServer } from '../admission/servers.ts';
import { onStage } from '../loop/loop.ts';
import { benchPod, gangOf, podsInTurn, type Shape } from '../loop/objects.ts';
import { GateObserver } from '../loop/observer.ts';
import { createGangs, PATIENCE, release, REST, untilToldOf, type ReleaseSetting } from '../loop/release.ts';
import { CREATORS } from '../loop/stage.ts';
import { countWrites, type Writes } from '../loop/writes.ts';
import type { StageReport } from '../measure/figures.ts';
import { inParallel } from '../measure/in-parallel.ts';
import { quantile } from '../measure/interval.ts';
import type { Distance } from './proxy.ts';
import { farReport, NAMESPACES, type DistantRound, type FarTiming } from './report.ts';

export const FAR_PARTS = ['far-slow', 'far-refusals', 'far-thousand'] as const;

type Progress = (line: string) => void;

const SLOW: Distance = { ms: 200, refused: 0 };
const REFUSING: Distance = { ms: 200, refused: 0.1 };

/** The loop with an API server that answers late, with one that refuses, and with a thousand gangs at once. */
export const measureFar = (
  parts: ReadonlySet<string>,
  timing: FarTiming,
  progress: Progress,
): Promise<StageReport> =>
  onStage(async ({ stage }) => {
    const observer = new GateObserver();
    await observer.start(stage.client);
    const setting = { stage, observer };
    try {
      return farReport(timing, {
        slow: parts.has('far-slow') ? await distant(SLOW, timing, setting, progress) : undefined,
        refusing: parts.has('far-refusals') ? await distant(REFUSING, timing, setting, progress) : undefined,
        thousand: parts.has('far-thousand') ? await besideBare(timing, setting, progress) : undefined,
      });
    } finally {
      await observer.stop();
    }
  });

type Setting = Pick<ReleaseSetting, 'stage' | 'observer'>;

/** Rounds of a Muster that is so far from the API server, each beside bare that watches where nothing is refused. */
async function distant(
  distance: Distance,
  { shape, rounds }: FarTiming,
  { stage, observer }: Setting,
  progress: Progress,
): Promise<DistantRound[]> {
  const { dir } = stage.plane;
  const proxy = fork(join(import.meta.dirname, 'proxy.ts'), [
    await stage.plane.kubeconfigFor(MUSTER_USER),
    dir,
  ]);
  const [kubeconfig] = (await once(proxy, 'message')) as [string];
  proxy.send(distance);
  const muster = await stage.startMuster({ kubeconfig });
  const watching = stage.startBare('watching', kubeconfig);
  const setting = { stage, observer, muster, bare: watching, watching };
  const all = { ...shape, gangs: shape.gangs * NAMESPACES.length };
  const found: DistantRound[] = [];
  try {
    for (let at = 0; at <= rounds; at += 1) {
      const name = `${distance.refused > 0 ? 'refusing' : 'slow'}-${at}`;
      const round = await oneRound(name, shape, { stage, observer });
      // The bare client tries nothing again.
      const beside =
        distance.refused > 0
          ? undefined
          : await release('watching', `${name}-bare`, all, setting, { podOf: littlePod });
      const p = (share: number): string => quantile(round.waits, share).toFixed(0);
      const times = `p50 ${p(0.5)} ms, p99 ${p(0.99)} ms, all ${round.ms.toFixed(0)} ms`;
      progress(`${name}: ${times}; bare that watches ${beside?.ms.toFixed(0) ?? '–'} ms`);
      // The first warms everybody up.
      if (at > 0) found.push({ ...round, bareMs: beside?.ms });
    }
  } finally {
    await watching.stop();
    await muster.stop();
    proxy.disconnect();
  }
  return found;
}

async function oneRound(
  name: string,
  shape: Shape,
  { stage, observer }: Setting,
): Promise<Omit<DistantRound, 'bareMs'>> {
  const namespaces = NAMESPACES.map((one) => `${name}-${one}`);
  const each = (work: (namespace: string) => Promise<unknown>): Promise<unknown> =>
    Promise.all(namespaces.map(work));
  await each((namespace) => stage.createNamespace(namespace));
  await each((namespace) => createGangs(namespace, shape, stage));
  await each((namespace) => untilToldOf(namespace, shape, stage));
  const pods = podsInTurn(shape).flatMap((pod) => namespaces.map((namespace) => ({ ...pod, namespace })));
  const completeAt = new Map<string, number>();
  await inParallel(pods, CREATORS, async ({ namespace, gang, index }) => {
    const pod = littlePod(namespace, { gang, index, contender: 'muster' });
    await stage.client.create(PODS, pod, { answer: 'metadata' });
    completeAt.set(`${namespace}/${gangOf(pod.metadata.name)}`, performance.now());
  });
  const count = shape.gangs * shape.podsPerGang;
  await each((namespace) => observer.gatesOff(namespace, count, PATIENCE));
  const offAt = new Map<string, number>();
  for (const namespace of namespaces) {
    for (const [pod, at] of observer.of(namespace).gateOffAt) {
      const gang = `${namespace}/${gangOf(pod)}`;
      offAt.set(gang, Math.max(at, offAt.get(gang) ?? 0));
    }
  }
  await delay(REST);
  const writes = namespaces.map((namespace) => countWrites(stage.auditLog, namespace));
  const sumOf = (of: (one: Writes) => number): number => writes.reduce((sum, one) => sum + of(one), 0);
  const gangs = shape.gangs * namespaces.length;
  const all = sumOf((one) => one.references + one.status + one.gates) - gangs * shape.podsPerGang;
  const toldAgain = sumOf((one) => one.toldAgain);
  await each((namespace) => stage.empty(namespace));
  await each((namespace) => observer.gone(namespace, PATIENCE));
  return {
    ms: Math.max(...offAt.values()) - Math.max(...completeAt.values()),
    waits: Array.from(offAt, ([gang, at]) => at - (completeAt.get(gang) ?? Number.NaN)),
    writesBeyondPods: all / gangs,
    toldAgain: toldAgain / gangs,
    // Of whole numbers: the difference of the quotients would be more than three by a rounding.
    otherWritesBeyondPods: (all - toldAgain) / gangs,
    refused: sumOf(({ refused }) => refused),
  };
}

/** The distance is measured, not the API server: of small Pods it takes more in a second. */
function littlePod(namespace: string, which: Parameters<typeof benchPod>[1]): KubeObject {
  const { metadata, spec } = benchPod(namespace, which);
  const { schedulingGates } = spec as { schedulingGates: unknown };
  const containers = [{ name: 'worker', image: 'registry.example.com/worker:1' }];
  return {
    metadata: { namespace, name: metadata.name, labels: metadata.labels ?? {} },
    spec: { schedulingGates, containers },
  };
}

/** A thousand gangs that are complete at once, in turn with the bare client. @returns each one's milliseconds */
async function besideBare(
  { rounds, thousand }: FarTiming,
  { stage, observer }: Setting,
  progress: Progress,
): Promise<{ muster: number; bare: number }[]> {
  const muster: RunningServer = await stage.startMuster();
  const [bare, watching] = [stage.startBare('bare'), stage.startBare('watching')];
  const setting = { stage, observer, bare, watching, muster };
  const found: { muster: number; bare: number }[] = [];
  try {
    for (let at = 1; at <= rounds; at += 1) {
      const took = { muster: 0, bare: 0 };
      const order = at % 2 === 0 ? (['muster', 'bare'] as const) : (['bare', 'muster'] as const);
      for (const one of order)
        took[one] = (await release(one, `thousand-${at}-${one}`, thousand, setting)).ms;
      found.push(took);
      progress(`thousand: round ${at}: bare ${took.bare.toFixed(0)} ms, Muster ${took.muster.toFixed(0)} ms`);
    }
  } finally {
    for (const one of [bare, watching, muster]) await one.stop();
  }
  return found;
}
