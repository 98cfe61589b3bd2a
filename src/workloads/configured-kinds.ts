import type { JsonObject } from '../json/json.ts';
import { templateAt, templatesIn } from './listed-templates.ts';
import { path } from './path.ts';
import { MAIN } from './single-template.ts';
import type { Template, WorkloadKind, TemplateList, TemplateShape } from './workload-kind.ts';
import { workloadKinds } from './kinds.ts';
import type { WorkloadReading } from './workload-reading.ts';

interface ConfiguredTemplate {
  readonly items?: string | undefined;
  readonly name?: string | undefined;
  readonly nameFrom?: string | undefined;
  readonly template: string;
  readonly replicas?: string | undefined;
  readonly minAvailable?: string | undefined;
}

/** A third party's kind from the configuration. */
export interface ConfiguredKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly templates: readonly ConfiguredTemplate[];
  readonly single?: Omit<ConfiguredTemplate, 'items' | 'name' | 'nameFrom'> | undefined;
  readonly minAvailable?: string | undefined;
}

/** The configured kinds before Muster's, so that a configured kind replaces Muster's own definition. */
export const kindsWith = (configured: readonly ConfiguredKind[]): readonly WorkloadKind[] =>
  configured.length === 0 ? workloadKinds : [...configured.map(kindFrom), ...workloadKinds];

export function kindFrom({
  group,
  version,
  kind,
  templates,
  single,
  minAvailable,
}: ConfiguredKind): WorkloadKind {
  return {
    ...{ group, version, kind },
    ...(templates.length > 0 && {
      templates: (object: JsonObject, reading: WorkloadReading) =>
        templates.flatMap((one) =>
          one.items === undefined ? [alone(object, reading, one)] : listed(reading, one),
        ),
    }),
    ...(single && {
      single: (object: JsonObject, reading: WorkloadReading) => alone(object, reading, single),
    }),
    shapes:
      templates.length > 0
        ? templates.map((one): TemplateShape =>
            one.items === undefined
              ? { as: 'alone', ...one, name: one.name ?? MAIN }
              : { as: 'list', ...listOf(one) },
          )
        : single
          ? [{ as: 'alone', ...single, name: MAIN }]
          : [],
    ...(minAvailable !== undefined && { totalMinimum: minAvailable }),
    // The signs by which nearly every workload that reports a failure does so.
    health: { phases: [{ path: 'status.phase', values: ['Failed'] }], conditions: ['Failed'] },
    status: {
      sums: ['replicas', 'readyReplicas', 'availableReplicas', 'active', 'succeeded', 'failed'],
      phases: [],
    },
    kept: {
      always: [
        'spec.suspend',
        ...(minAvailable === undefined ? [] : [minAvailable]),
        ...(single?.minAvailable === undefined ? [] : [single.minAvailable]),
        ...templates.flatMap(({ items, minAvailable: least }) =>
          least === undefined ? [] : [items === undefined ? least : `${items}.*.${least}`],
        ),
      ],
      filled: [],
      templates: [],
    },
    says: { components: '', minimum: '' },
  };
}

function alone(object: JsonObject, reading: WorkloadReading, told: ConfiguredTemplate): Template {
  const minimum = told.minAvailable === undefined ? undefined : path(told.minAvailable);
  const count = told.replicas === undefined ? undefined : path(told.replicas);
  return {
    name: told.name ?? MAIN,
    template: templateAt(object, path(told.template)),
    path: path(told.template),
    replicas: count === undefined ? 1 : reading.count(count, 1),
    minAvailable: minimum && reading.count(minimum, undefined),
    count: count && { path: count, per: 1 },
    minimum: minimum && { path: minimum, per: 1 },
  };
}

const listed = (reading: WorkloadReading, told: ConfiguredTemplate): Template[] =>
  templatesIn(reading, listOf(told));

const listOf = ({
  items = '',
  name,
  nameFrom,
  template,
  replicas,
  minAvailable,
}: ConfiguredTemplate): TemplateList => ({
  items,
  template,
  ...(nameFrom !== undefined && { name: nameFrom }),
  ...(name !== undefined && { unnamed: name }),
  ...(replicas !== undefined && { replicas }),
  ...(minAvailable !== undefined && { minAvailable }),
});
