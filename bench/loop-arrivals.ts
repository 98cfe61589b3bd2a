import { setTimeout as delay } from 'node:timers/promises';
import { POD_GANGS, PODS } from '../src/kube/client/resources.ts';
import { inParallel } from './in-parallel.ts';
import { benchGang, benchPod, gangName, gangOf, type Shape } from './loop-objects.ts';
import type { ReleaseSetting } from './loop-release.ts';

/** Controllers that make Pods have so many workers: each makes one gang, then the next. */
export const ARRIVAL_CREATORS = 8;
const PATIENCE = 180_000;
const REST = 1_500;

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
