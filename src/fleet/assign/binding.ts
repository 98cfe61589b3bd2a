import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { MOST_PODS } from '../../api/most-pods.ts';
import { quoted } from '../../text/printable.ts';
import type { FieldReader, Resources } from '../../k8s/field-reader.ts';
import { minAvailableOf, strategyOf, placedComponentsOf, type MinAvailable } from './binding-annotations.ts';
import { readPlacement, type Placement } from './placement.ts';
import type { ComponentReplicas, TargetCluster } from './candidate.ts';

export type { TargetCluster };

/** A ResourceBinding or ClusterResourceBinding (`work.karmada.io/v1alpha2`), reduced to the fields that placement uses. */
export interface Binding {
  /** `namespace/name`, or `name` of a ClusterResourceBinding. */
  readonly key: string;
  /** Such as `batch/v1 Job`. */
  readonly kind: string;
  /** Uid of the workload: breaks ties between clusters that are equal otherwise. */
  readonly uid: string;
  readonly replicas: number;
  /** Requests of one replica; undefined when the binding has none, as for a ConfigMap. */
  readonly requests: Resources | undefined;
  /** Further requirements of one replica on the node. */
  readonly needs?: NodeNeeds;
  /** Templates of a workload that has several. */
  readonly components: readonly BindingComponent[];
  /** Clusters of the workload now. */
  readonly clusters: readonly TargetCluster[];
  /** Names of clusters that the workload is being evicted from. */
  readonly evicting: ReadonlySet<string>;
  readonly placement: Placement | undefined;
  /** Whether rescheduling was triggered, so that the current placement does not bind. */
  readonly fresh: boolean;
  /** Name of the binding's current group of `clusterAffinities`; `''` for none. */
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

/** Requirements of a replica besides amounts. Only an estimator, which sees a cluster's nodes, can check them. */
export interface NodeNeeds {
  /** Node selector, tolerations and affinity, in Karmada's format. */
  readonly nodeClaim?: JsonObject;
  readonly priorityClassName?: string;
}

/**
 * Whether the binding is for a workload rather than for an object without Pods, such as a ConfigMap, which goes to every
 * cluster.
 */
export const isWorkload = ({ replicas, requests, components }: Binding): boolean =>
  replicas > 0 || requests !== undefined || components.length > 0;

/** Unreadable fields of `object` are reported to `reading`. */
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
    // Both times are required: a binding without the second was never scheduled, so there is no placement to drop.
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

/** @param written components of each cluster from the annotation, used when the field has none */
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

/** Expected type of a field of a binding that Muster reads. */
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
 * Reports fields of the wrong type. Karmada's API server stores none, but a binding written by hand may have one: ignoring a
 * name that was written without its list, for example, would allow every cluster.
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
