import { isObject, ownObject, type JsonObject } from '../json/json.ts';
import { ownName } from './listed-templates.ts';
import { path, valueAt } from './path.ts';
import type { StatusShape, Template, TemplateKind, TemplateShape } from './workload-kind.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** What the component of a workload with one template is called, as that template has hardly ever a name. */
export const MAIN = 'main';

/** The one template of a workload under `spec.template`. */
export function singleTemplate(object: JsonObject, count: string, replicas: number): Template {
  const template = ownObject(ownObject(object, 'spec'), 'template');
  return {
    name: ownName(template) || MAIN,
    template,
    path: path('spec.template'),
    replicas,
    minAvailable: undefined,
    count: { path: path(count), per: 1 },
  };
}

/** {@link singleTemplate} of which `spec.replicas` says the number. */
export const replicatedTemplate = (object: JsonObject, reading: WorkloadReading): Template =>
  singleTemplate(object, 'spec.replicas', reading.countOf('spec.replicas', 1));

/** {@link replicatedTemplate} in paths. */
export const REPLICATED: TemplateShape = {
  as: 'alone',
  template: 'spec.template',
  replicas: 'spec.replicas',
};

/** The template under `at`, of which nobody can say how many Pods there are at a time. */
export const uncountedTemplate =
  (at: string): NonNullable<TemplateKind['single']> =>
  (object) => {
    const template = valueAt(object, path(at));
    return {
      name: '',
      template: isObject(template) ? template : undefined,
      path: path(at),
      replicas: 0,
      uncounted: true,
      minAvailable: undefined,
    };
  };

/** What the status of those that serve counts. */
export const REPLICAS: StatusShape = {
  sums: [
    'replicas',
    'readyReplicas',
    'updatedReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'currentReplicas',
  ],
  phases: [],
};

export const SINGLE_SAYS = { components: `\`${MAIN}\`, or what the template calls itself`, minimum: 'all' };

/** Healthy where each of these numbers of the status is `spec.replicas`. */
export const readyWhere = (...fields: readonly string[]) =>
  fields.map((field) => ({ has: `status.${field}`, wants: 'spec.replicas', otherwise: 1 }));
