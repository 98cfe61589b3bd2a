import { isWorkload, type Binding, type TargetCluster } from './binding.ts';
import { minAvailableFor, bindingTemplates } from './gang-strategies.ts';
import { divisionOf } from './placement.ts';
import type { Assigner } from './assigner.ts';

/**
 * Why a binding is scheduled again: its placement changed (`placement`), its replicas do not add up (`replicas`),
 * rescheduling was triggered (`fresh`), one of its clusters is going away (`cluster`), it may grow (`growth`), or it belongs
 * in every cluster that fits (`everywhere`).
 */
export type RescheduleReason = 'placement' | 'replicas' | 'fresh' | 'cluster' | 'growth' | 'everywhere';

/**
 * The first reason that applies, in the order of Karmada's scheduler; undefined when the binding needs no scheduling.
 * @param applied whether the binding was scheduled by its current placement
 * @param stays whether the cluster exists and is not being deleted
 */
export function rescheduleReasonOf(
  binding: Binding,
  plugin: Assigner,
  applied: boolean,
  stays: (cluster: string) => boolean,
): RescheduleReason | undefined {
  if (!applied) return 'placement';
  if (binding.fresh) return 'fresh';
  const numbers =
    plugin.room === undefined ? withoutInterval(binding) : withInterval(binding, binding.clusters);
  if (numbers === 'replicas') return numbers;
  if (!binding.clusters.every(({ name }) => stays(name))) return 'cluster';
  return numbers;
}

function withoutInterval(binding: Binding): RescheduleReason | undefined {
  const { clusters, replicas, components, placement } = binding;
  if (!isWorkload(binding)) return 'everywhere';
  if (components.length > 0) {
    if (clusters.length === 0) return 'replicas';
  } else if (divisionOf(placement) === undefined) {
    return clusters.some((one) => one.replicas !== replicas) ? 'replicas' : 'everywhere';
  } else if (sumOf(clusters) !== replicas) return 'replicas';
  return divisionOf(placement) === undefined ? 'everywhere' : undefined;
}

function withInterval(binding: Binding, clusters: readonly TargetCluster[]): RescheduleReason | undefined {
  const templates = bindingTemplates(binding);
  if (templates.length === 0) return 'everywhere';
  if (clusters.length === 0) return 'replicas';
  let due: RescheduleReason | undefined;
  for (const template of templates) {
    const placed = clusters.reduce((sum, one) => sum + placedOf(one, template, templates.length), 0);
    if (placed > template.replicas || placed < minAvailableFor(binding, template)) return 'replicas';
    if (placed < template.replicas) due = 'growth';
  }
  return due;
}

/**
 * Replicas of a template in a cluster. For several templates without recorded numbers, all replicas are there, since Karmada
 * sends a workload whole.
 */
export const placedOf = (
  { replicas, components }: TargetCluster,
  template: { readonly name: string; readonly replicas: number },
  templates: number,
): number => {
  if (components !== undefined) return components.find(({ name }) => name === template.name)?.replicas ?? 0;
  return templates > 1 ? template.replicas : replicas;
};

const sumOf = (clusters: readonly TargetCluster[]): number =>
  clusters.reduce((sum, { replicas }) => sum + replicas, 0);

/**
 * Whether every running replica keeps its cluster. Replicas may be removed only when the workload itself is scaled down.
 * @param stays as in {@link rescheduleReasonOf}
 */
export function keepsWhatRuns(
  binding: Binding,
  after: readonly TargetCluster[],
  stays: (cluster: string) => boolean,
): boolean {
  const templates = bindingTemplates(binding);
  return templates.every((template) => {
    const count = (one: TargetCluster | undefined): number =>
      one === undefined ? 0 : placedOf(one, template, templates.length);
    const all = binding.clusters.reduce((sum, one) => sum + count(one), 0);
    if (all > template.replicas) return true;
    return binding.clusters.every(
      (one) => !stays(one.name) || count(after.find(({ name }) => name === one.name)) >= count(one),
    );
  });
}

/** Whether both lists are equal, in any order. */
export function sameClusters(a: readonly TargetCluster[], b: readonly TargetCluster[]): boolean {
  const text = (clusters: readonly TargetCluster[]): string =>
    JSON.stringify(
      clusters
        .map(({ name, replicas, components = [] }) => [
          name,
          replicas,
          components.map((one) => `${one.name} ${one.replicas}`).sort(),
        ])
        .sort(([x = ''], [y = '']) => (x < y ? -1 : 1)),
    );
  return text(a) === text(b);
}
