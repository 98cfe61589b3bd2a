import { isObject, own, type Json } from '../../json/json.ts';
import { quoted } from '../../text/printable.ts';
import type { FieldReader } from '../../k8s/field-reader.ts';

/** What stands where in a binding, as far as it is read. */
type Shape = 'string' | 'object' | readonly ['list of', Shape] | { readonly [field: string]: Shape };

const list = (of: Shape): Shape => ['list of', of];

const AFFINITY: Shape = {
  clusterNames: list('string'),
  exclude: list('string'),
  labelSelector: 'object',
  fieldSelector: { matchExpressions: list({ values: list('string') }) },
};

const SPEC: Shape = {
  resource: 'object',
  replicaRequirements: { resourceRequest: 'object' },
  components: list({ replicaRequirements: { resourceRequest: 'object' } }),
  clusters: list({ components: list('object') }),
  gracefulEvictionTasks: list('object'),
  placement: {
    clusterAffinity: AFFINITY,
    clusterAffinities: list({ ...AFFINITY, overflowAffinities: list(AFFINITY) }),
    clusterTolerations: list('object'),
    spreadConstraints: list('object'),
    replicaScheduling: { weightPreference: { staticWeightList: list({ targetCluster: AFFINITY }) } },
  },
};

/**
 * Tells of what is written where something else belongs. Karmada's API server stores none such; by hand a name is soon
 * written without its list, and what is then passed over would have the workload go anywhere.
 */
export const checkShape = (spec: Json | undefined, reading: FieldReader): void =>
  check(spec, 'spec', SPEC, reading);

function check(value: Json | undefined, field: string, shape: Shape, reading: FieldReader): void {
  if (value === undefined || value === null) return;
  const wrong = (what: string): void => reading.wrong(field, `${quoted(value)} must be ${what}; correct it`);
  if (shape === 'string' && typeof value !== 'string') return wrong('a string');
  if (typeof shape === 'string' && shape !== 'object') return;
  if (!isList(shape)) {
    if (!isObject(value)) return wrong('an object');
    for (const [name, inner] of shape === 'object' ? [] : Object.entries(shape))
      check(own(value, name), `${field}.${name}`, inner, reading);
    return;
  }
  if (!Array.isArray(value)) return wrong('a list');
  for (const [index, one] of (value as readonly Json[]).entries())
    check(one, `${field}[${index}]`, shape[1], reading);
}

const isList = (shape: Shape): shape is readonly ['list of', Shape] => Array.isArray(shape);
