import type { JsonObject } from '../api/json.ts';
import type { Policy } from '../admission/decision.ts';
import { builtInBackends } from '../backends/registry.ts';
import { broken } from './check.ts';
import { admitted, type Subject } from './subject.ts';

/** Far above what noise can make of an honest backend: those that come with Muster are below 3. */
const MOST = 50;
const ROUNDS = 9;
const PODS_A_ROUND = 100;

/** @returns the ratio, for people @throws ConformanceFailure above {@link MOST} */
export async function speedNote(subject: Subject, pod: JsonObject): Promise<string> {
  const { policy } = await subject.enabled();
  const { policy: usual } = await subject.enabled(builtInBackends[0]);
  const round = (under: Policy): number => {
    const since = performance.now();
    for (let count = 0; count < PODS_A_ROUND; count += 1) admitted(pod, under);
    return performance.now() - since;
  };
  // In turns, and the best of each, so that what else the machine does hits neither more.
  const times = Array.from({ length: ROUNDS }, () => [round(usual), round(policy)] as const);
  const best = (side: 0 | 1): number => Math.min(...times.map((pair) => pair[side]));
  const ratio = best(1) / best(0);
  if (ratio > MOST)
    throw broken(`it takes ${ratio.toFixed(0)} times as long: every Pod of the cluster waits for it`);
  return `${ratio.toFixed(1)} times default-scheduler`;
}
