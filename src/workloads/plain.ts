import { ownObject, ownString, type JsonObject } from '../json/json.ts';
import { ownName } from './listed-templates.ts';
import { path } from './path.ts';
import type { OneByOne, StatusShape, Template, WorkloadKind } from './workload-kind.ts';
import type { TemplateShape } from './template-shape.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** What the component of a workload with one template is called, as that template has hardly ever a name. */
export const MAIN = 'main';

/** The one template of a workload under `spec.template`. */
function plainTemplate(object: JsonObject, count: string, replicas: number): Template {
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

export const replicated = (object: JsonObject, reading: WorkloadReading): Template =>
  plainTemplate(object, 'spec.replicas', reading.countOf('spec.replicas', 1));

const REPLICATED: TemplateShape = { as: 'alone', template: 'spec.template', replicas: 'spec.replicas' };

const inOrder = (object: JsonObject): OneByOne | undefined =>
  ownString(ownObject(object, 'spec'), 'podManagementPolicy') === 'Parallel'
    ? undefined
    : { field: 'spec.podManagementPolicy', instead: 'Parallel' };

/** So many at a time, but no more than are left to complete. */
export const jobPods = (reading: WorkloadReading, spec: string | readonly (string | number)[]): number => {
  const at = typeof spec === 'string' ? path(spec) : spec;
  const parallelism = reading.count([...at, 'parallelism'], 1);
  return Math.min(parallelism, reading.count([...at, 'completions'], parallelism));
};

/** Of a Job with `backoffLimitPerIndex`, how many of its indexes are given up: `1,3-5` are four. */
export function failedIndexes(reading: WorkloadReading): number {
  const told = reading.at(path('status.failedIndexes'));
  if (typeof told !== 'string') return 0;
  return [...told.matchAll(/(\d+)(?:-(\d+))?/g)].reduce(
    (sum, [, first = '', last = first]) => sum + Math.max(Number(last) - Number(first) + 1, 0),
    0,
  );
}

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

const says = { components: `\`${MAIN}\`, or what the template calls itself`, minimum: 'all' };

const readyWhere = (...fields: readonly string[]) =>
  fields.map((field) => ({ has: `status.${field}`, wants: 'spec.replicas', otherwise: 1 }));

export const plainKinds: readonly WorkloadKind[] = [
  {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    single: replicated,
    shapes: [REPLICATED],
    health: { phases: [], conditions: [], ready: readyWhere('updatedReplicas', 'availableReplicas') },
    status: REPLICAS,
    kept: { always: [], filled: [], templates: [] },
    says,
  },
  {
    group: 'apps',
    version: 'v1',
    kind: 'StatefulSet',
    single: (object, reading) => ({ ...replicated(object, reading), oneByOne: inOrder(object) }),
    shapes: [REPLICATED],
    health: { phases: [], conditions: [], ready: readyWhere('updatedReplicas', 'readyReplicas') },
    status: REPLICAS,
    kept: { always: [], filled: [], templates: [] },
    says,
  },
  {
    group: 'batch',
    version: 'v1',
    kind: 'Job',
    single: (object, reading) => plainTemplate(object, 'spec.parallelism', jobPods(reading, 'spec')),
    health: { phases: [], conditions: ['Failed'] },
    status: { sums: ['active', 'ready', 'succeeded', 'failed', 'terminating'], phases: [] },
    kept: { always: ['spec.suspend'], filled: ['spec.selector'], templates: ['spec.template'] },
    says,
  },
];
