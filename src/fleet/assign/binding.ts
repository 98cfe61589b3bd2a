import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { MOST_PODS } from '../../api/most-pods.ts';
import { quoted } from '../../text/printable.ts';
import type { FieldReader, Resources } from '../../k8s/field-reader.ts';
import { minAvailableOf, strategyOf, placedComponentsOf, type MinAvailable } from './binding-annotations.ts';
import { readPlacement, type Placement } from './placement.ts';
import type { ComponentReplicas, TargetCluster } from './candidate.ts';

export type { TargetCluster };

/** A ResourceBinding or ClusterResourceBinding (`work.karmada.io/v1alpha2`), trimmed to what decides where it goes. */
export interface Binding {
  /** `namespace/name`, or `name` of one that has no namespace. */
  readonly key: string;
  /** `batch/v1 Job`. */
  readonly kind: string;
  /** Of the workload: it decides between clusters that are equal in all else. */
  readonly uid: string;
  readonly replicas: number;
  /** What one replica asks for; undefined where nothing was found out, as of a ConfigMap. */
  readonly requests: Resources | undefined;
  /** What else one replica asks of a node. */
  readonly needs?: NodeNeeds;
  /** Templates of a workload that has several. */
  readonly components: readonly BindingComponent[];
  /** Where it is now. */
  readonly clusters: readonly TargetCluster[];
  /** Clusters that it is being taken from. */
  readonly evicting: ReadonlySet<string>;
  readonly placement: Placement | undefined;
  /** Told to be placed anew, whatever it has. */
  readonly fresh: boolean;
  /** The group of `clusterAffinities` that it is in, `''` for none. */
  readonly affinityName: string;
  readonly strategy: string;
  readonly minAvailable: MinAvailable;
}

export interface BindingComponent {
  readonly name: string;
  readonly replicas: number;
  readonly requests: Resources;
  readonly needs?: NodeNeeds;
}

/** What a replica asks for beside amounts. Only who sees the nodes of a cluster can judge it. */
export interface NodeNeeds {
  /** Node selector, tolerations and affinity, as Karmada writes them down. */
  readonly nodeClaim?: JsonObject;
  readonly priorityClassName?: string;
}

/** Whether it is a workload at all; a ConfigMap goes to every cluster. */
export const isWorkload = ({ replicas, requests, components }: Binding): boolean =>
  replicas > 0 || requests !== undefined || components.length > 0;

/** What of `object` cannot be read is told to `reading`. */
export function readBinding(object: JsonObject, reading: FieldReader): Binding {
  const metadata = own(object, 'metadata');
  const spec = own(object, 'spec');
  const status = own(object, 'status');
  checkShape(spec, reading);
  const resource = own(spec, 'resource');
  const namespace = ownString(metadata, 'namespace') ?? '';
  const name = ownString(metadata, 'name') ?? '';
  const requirements = own(spec, 'replicaRequirements');
  const components = (ownList(spec, 'components') ?? []).map((one, index) =>
    readComponent(one, `spec.components[${index}]`, reading),
  );
  const replicas = replicasOf(spec, 'spec.replicas', reading);
  const [twice] = components.filter((one, index) =>
    components.some((other, at) => at < index && other.name === one.name),
  );
  if (twice !== undefined)
    reading.wrong('spec.components', `two are named ${quoted(twice.name)}; give each a name of its own`);
  const written = placedComponentsOf(object, reading);
  const triggered = Date.parse(ownString(spec, 'rescheduleTriggeredAt') ?? '');
  const last = Date.parse(ownString(status, 'lastScheduledTime') ?? '');
  return {
    key: namespace === '' ? name : `${namespace}/${name}`,
    kind: `${ownString(resource, 'apiVersion') ?? ''} ${ownString(resource, 'kind') ?? ''}`,
    uid: ownString(resource, 'uid') ?? '',
    replicas,
    requests: isObject(requirements)
      ? reading.resources(own(requirements, 'resourceRequest'), 'spec.replicaRequirements.resourceRequest')
      : undefined,
    ...needsOf(requirements),
    components,
    clusters: (ownList(spec, 'clusters') ?? []).map((one, index) =>
      readTarget(one, `spec.clusters[${index}]`, reading, components.length > 0 ? written : undefined),
    ),
    evicting: new Set(
      (ownList(spec, 'gracefulEvictionTasks') ?? []).map((one) => ownString(one, 'fromCluster') ?? ''),
    ),
    placement: readPlacement(own(spec, 'placement'), reading),
    // Both times have to be there: without the second it was never placed, so there is nothing to forget.
    fresh: triggered > last,
    affinityName: ownString(status, 'schedulerObservingAffinityName') ?? '',
    strategy: strategyOf(object, reading),
    minAvailable: minAvailableOf(
      object,
      components.length > 0 ? components : [{ name: '', replicas }],
      reading,
    ),
  };
}

const readComponent = (one: Json, at: string, reading: FieldReader): BindingComponent => {
  const name = ownString(one, 'name') ?? '';
  if (name === '') reading.wrong(`${at}.name`, 'must not be empty; name the template');
  return {
    name,
    replicas: replicasOf(one, `${at}.replicas`, reading),
    requests: reading.resources(
      own(own(one, 'replicaRequirements'), 'resourceRequest'),
      `${at}.replicaRequirements.resourceRequest`,
    ),
    ...needsOf(own(one, 'replicaRequirements')),
  };
};

function needsOf(requirements: Json | undefined): { readonly needs?: NodeNeeds } {
  const nodeClaim = own(requirements, 'nodeClaim');
  const priorityClassName = ownString(requirements, 'priorityClassName') ?? '';
  if (!isObject(nodeClaim) && priorityClassName === '') return {};
  return {
    needs: { ...(isObject(nodeClaim) && { nodeClaim }), ...(priorityClassName && { priorityClassName }) },
  };
}

/** @param written the components that were written down beside the field, by cluster */
function readTarget(
  one: Json,
  at: string,
  reading: FieldReader,
  written: ReadonlyMap<string, readonly ComponentReplicas[]> | undefined,
): TargetCluster {
  const name = ownString(one, 'name') ?? '';
  const components =
    ownList(one, 'components')?.map((component, index) => ({
      name: ownString(component, 'name') ?? '',
      replicas: replicasOf(component, `${at}.components[${index}].replicas`, reading),
    })) ?? written?.get(name);
  return { name, replicas: replicasOf(one, `${at}.replicas`, reading), ...(components && { components }) };
}

function replicasOf(value: Json | undefined, field: string, reading: FieldReader): number {
  const replicas = reading.integer(own(value, 'replicas'), field, 0);
  if (replicas >= 0 && replicas <= MOST_PODS) return replicas;
  reading.wrong(field, `${replicas} must be from 0 to ${MOST_PODS}; correct the workload`);
  return 0;
}

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
const checkShape = (spec: Json | undefined, reading: FieldReader): void => check(spec, 'spec', SPEC, reading);

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
