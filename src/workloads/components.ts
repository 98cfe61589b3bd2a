import { isObject, own, type JsonObject } from '../json/json.ts';
import { MusterError } from '../errors.ts';
import { componentNames } from './component-names.ts';
import { path } from './path.ts';
import { requirementsOf, type Requirements } from './pod-requirements.ts';
import type { Template, TemplateKind } from './workload-kind.ts';
import { WorkloadReading } from './workload-reading.ts';

/** A template of a workload, with a unique name and the number of Pods that must start together. */
export interface Component extends Template {
  readonly minAvailable: number;
  readonly requirements: Requirements | undefined;
}

/**
 * The templates of a workload, in its order, since changes are matched by position.
 * @throws MusterError WORKLOAD_INVALID with every fault
 */
export function componentsOf(object: JsonObject, kind: TemplateKind): Component[] {
  const reading = new WorkloadReading(object);
  const components = readComponents(object, kind, reading);
  // A workload without Pods counts as an object without Pods, which Karmada copies to every cluster.
  if (components.length === 0 && !isObject(own(object, 'spec')))
    reading.wrongAt(['spec'], `is missing, and with it the Pods of the ${kind.kind}`);
  if (reading.wrongs.length > 0) {
    throw new MusterError(
      'WORKLOAD_INVALID',
      reading.faults.join('; '),
      'correct what is named, and apply it again',
    );
  }
  return components;
}

/** {@link componentsOf} with faults reported to `reading`. */
export function readComponents(
  object: JsonObject,
  kind: TemplateKind,
  reading: WorkloadReading,
): Component[] {
  const templates = templatesOf(object, kind, reading);
  const names = componentNames(templates.map(({ name }) => name));
  const minimums = minimumsOf(templates, kind, reading);
  return templates.map((template, index) => ({
    ...template,
    name: names[index] ?? template.name,
    minAvailable: minimums[index] ?? template.replicas,
    requirements: requirementsOf(template.template, template.path, reading),
  }));
}

/** For a kind with both `templates` and `single`, `templates` is used. */
export const templatesOf = (
  object: JsonObject,
  { templates, single }: TemplateKind,
  reading: WorkloadReading,
): readonly Template[] =>
  templates?.(object, reading) ?? (single === undefined ? [] : [single(object, reading)]);

/** Whether a kind has or may have several templates. */
export const isMultiTemplate = ({ templates }: TemplateKind): boolean => templates !== undefined;

/**
 * The minimum of each template. A total minimum above the sum raises the minimums in the order of the templates. A total
 * minimum below the sum lowers those of templates without a minimum of their own, the last first: master and launcher are
 * the first templates and are always needed.
 */
function minimumsOf(
  templates: readonly Template[],
  { totalMinimum }: TemplateKind,
  reading: WorkloadReading,
): number[] {
  const minimums = templates.map((template) => {
    const { minAvailable, replicas, minimum, path: at } = template;
    if (minAvailable === undefined) return replicas;
    if (minAvailable <= replicas) return minAvailable;
    const wrong = `a minimum of ${minAvailable} is more than there are Pods (${replicas}); lower it, or raise their number`;
    reading.wrongAt(minimum?.path ?? at, wrong);
    return replicas;
  });
  // Controllers take 0 as unset.
  const total = totalMinimum === undefined ? 0 : reading.countOf(totalMinimum, 0);
  if (totalMinimum === undefined || total === 0) return minimums;
  let missing = total - minimums.reduce((sum, one) => sum + one, 0);
  for (let index = 0; missing > 0 && index < templates.length; index += 1) {
    const more = Math.min(missing, (templates[index]?.replicas ?? 0) - (minimums[index] ?? 0));
    minimums[index] = (minimums[index] ?? 0) + more;
    missing -= more;
  }
  for (let index = templates.length - 1; missing < 0 && index >= 0; index -= 1) {
    if (templates[index]?.minAvailable !== undefined) continue;
    const less = Math.min(-missing, minimums[index] ?? 0);
    minimums[index] = (minimums[index] ?? 0) - less;
    missing += less;
  }
  if (missing > 0) {
    reading.wrongAt(
      path(totalMinimum),
      `a minimum of ${total} is more than there are Pods (${total - missing}); lower it`,
    );
  }
  return minimums;
}
