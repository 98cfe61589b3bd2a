import { isObject, own, ownList, ownString, type Json } from '../../json/json.ts';
import type { LabelSelector } from '../../k8s/label-selector.ts';
import { stringsOf, type FieldReader } from '../../k8s/field-reader.ts';
import { tolerationOf, type Toleration } from '../../k8s/taints.ts';

/** `spec.placement` of a binding, copied there from the policy. */
export interface Placement {
  readonly affinity: ClusterAffinity | undefined;
  /** Groups of clusters; the first group that holds the workload is chosen. */
  readonly affinities: readonly AffinityGroup[];
  readonly tolerations: readonly Toleration[];
  readonly spread: readonly Spread[];
  /** undefined: every cluster gets all replicas. */
  readonly scheduling: ReplicaScheduling | undefined;
}

export interface ClusterAffinity {
  readonly labels: LabelSelector | undefined;
  readonly fields: readonly FieldRequirement[];
  /** Empty: any cluster. */
  readonly names: readonly string[];
  readonly exclude: readonly string[];
}

export interface FieldRequirement {
  /** `provider`, `region` or `zone`. */
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export interface AffinityGroup {
  readonly name: string;
  readonly affinity: ClusterAffinity;
  /** Overflow affinities, in order: used when the group's clusters are full. */
  readonly overflow: readonly ClusterAffinity[];
}

export interface Spread {
  /** `cluster`, `region`, `zone` or `provider`; `''` when the constraint uses a label. */
  readonly field: string;
  readonly min: number;
  readonly max: number;
}

export interface ReplicaScheduling {
  /** `Duplicated` or `Divided`. */
  readonly type: string;
  /** `Aggregated` or `Weighted`; `''` when the policy has none. */
  readonly preference: string;
  /** undefined: equal weights. */
  readonly weights: { readonly fixed: readonly FixedWeight[]; readonly dynamic: string } | undefined;
}

export interface FixedWeight {
  readonly clusters: ClusterAffinity;
  readonly weight: number;
}

/** How replicas are divided; undefined when every cluster gets all of them, regardless of capacity. */
export const divisionOf = (placement: Placement | undefined): ReplicaScheduling | undefined =>
  placement?.scheduling?.type === 'Duplicated' ? undefined : placement?.scheduling;

/** undefined when the binding has no placement, as bindings of dependencies. */
export function readPlacement(value: Json | undefined, reading: FieldReader): Placement | undefined {
  if (!isObject(value)) return undefined;
  const at = 'spec.placement';
  const affinity = own(value, 'clusterAffinity');
  return {
    affinity: isObject(affinity) ? readAffinity(affinity, `${at}.clusterAffinity`, reading) : undefined,
    affinities: (ownList(value, 'clusterAffinities') ?? []).map((one, index) => {
      const here = `${at}.clusterAffinities[${index}]`;
      return {
        name: ownString(one, 'affinityName') ?? '',
        affinity: readAffinity(one, here, reading),
        overflow: (ownList(one, 'overflowAffinities') ?? []).map((other, place) =>
          readAffinity(other, `${here}.overflowAffinities[${place}]`, reading),
        ),
      };
    }),
    tolerations: (ownList(value, 'clusterTolerations') ?? []).map(tolerationOf),
    spread: (ownList(value, 'spreadConstraints') ?? []).map((one, index) => ({
      field: ownString(one, 'spreadByField') ?? '',
      min: reading.integer(own(one, 'minGroups'), `${at}.spreadConstraints[${index}].minGroups`, 0),
      max: reading.integer(own(one, 'maxGroups'), `${at}.spreadConstraints[${index}].maxGroups`, 0),
    })),
    scheduling: readScheduling(own(value, 'replicaScheduling'), `${at}.replicaScheduling`, reading),
  };
}

const readAffinity = (value: Json, at: string, reading: FieldReader): ClusterAffinity => ({
  labels: reading.selector(own(value, 'labelSelector'), `${at}.labelSelector`),
  fields: (ownList(own(value, 'fieldSelector'), 'matchExpressions') ?? []).map((one) => ({
    key: ownString(one, 'key') ?? '',
    operator: ownString(one, 'operator') ?? '',
    values: stringsOf(own(one, 'values')),
  })),
  names: stringsOf(own(value, 'clusterNames')),
  exclude: stringsOf(own(value, 'exclude')),
});

function readScheduling(
  value: Json | undefined,
  at: string,
  reading: FieldReader,
): ReplicaScheduling | undefined {
  if (!isObject(value)) return undefined;
  const weights = own(value, 'weightPreference');
  return {
    type: ownString(value, 'replicaSchedulingType') || 'Divided',
    preference: ownString(value, 'replicaDivisionPreference') ?? '',
    weights: isObject(weights)
      ? {
          fixed: (ownList(weights, 'staticWeightList') ?? []).map((one, index) => ({
            clusters: readAffinity(
              own(one, 'targetCluster') ?? {},
              `${at}.weightPreference.staticWeightList[${index}].targetCluster`,
              reading,
            ),
            weight: reading.integer(
              own(one, 'weight'),
              `${at}.weightPreference.staticWeightList[${index}].weight`,
              0,
            ),
          })),
          dynamic: ownString(weights, 'dynamicWeight') ?? '',
        }
      : undefined,
  };
}
