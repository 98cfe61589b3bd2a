import { isObject, ownObject, type JsonObject } from '../json/json.ts';
import { ownName } from './listed-templates.ts';
import { path, valueAt } from './path.ts';
import type { FleetTerms, StatusShape, Template, TemplateKind, TemplateShape } from './workload-kind.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** Name of the component of a workload with a single template, since that template rarely has a name. */
export const MAIN = 'main';

/** The only template of a workload, at `spec.template`. */
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

/** {@link singleTemplate} with its number of Pods in `spec.replicas`. */
export const replicatedTemplate = (object: JsonObject, reading: WorkloadReading): Template =>
  singleTemplate(object, 'spec.replicas', reading.countOf('spec.replicas', 1));

/** {@link replicatedTemplate} as paths. */
const REPLICATED: TemplateShape = {
  as: 'alone',
  template: 'spec.template',
  replicas: 'spec.replicas',
};

/** The template at `at`, whose number of concurrent Pods is unknown. */
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

/** Counts in the status of kinds that serve. */
const REPLICAS: StatusShape = {
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

/** Healthy when each of these counts in the status equals `spec.replicas`. */
export const readyWhere = (...fields: readonly string[]) =>
  fields.map((field) => ({ has: `status.${field}`, wants: 'spec.replicas', otherwise: 1 }));

/** The facts about a kind that serves from one template. @param fields see {@link readyWhere} */
export const servingFleet = (...fields: readonly string[]): FleetTerms => ({
  shapes: [REPLICATED],
  health: { phases: [], conditions: [], ready: readyWhere(...fields) },
  status: REPLICAS,
  kept: { always: [], filled: [], templates: [] },
  says: SINGLE_SAYS,
});
