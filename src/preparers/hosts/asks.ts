import type { PodRecord } from '../../gang/records.ts';

/**
 * Cores and GPUs of a Pod, such as `4 2`, by group, as Flux is told of them before any broker starts.
 * @throws where Pods of a group ask for different amounts
 */
export function asksOf(pods: readonly Pick<PodRecord, 'group' | 'asks'>[]): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  for (const { group, asks } of pods) {
    if (asks === undefined) continue;
    const before = all.get(group) ?? asks;
    if (before !== asks) throw new Error(differing(group, [before, asks]));
    all.set(group, asks);
  }
  return all;
}

const differing = (group: string, asks: readonly string[]): string => {
  const words = asks.map((one) => {
    const [cores = '', gpus = ''] = one.split(' ');
    return `${cores === '-' ? 'no' : cores} ${cores === '1' ? 'core' : 'cores'} and ${gpus} ${gpus === '1' ? 'GPU' : 'GPUs'}`;
  });
  return `Pods of group ${group} ask for different amounts (${words.sort().join('; ')}): Flux is told of a group, not of a Pod`;
};
