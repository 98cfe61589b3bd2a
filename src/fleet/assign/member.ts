import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { countOf } from '../../k8s/quantity.ts';
import {
  labelsOf,
  stringsOf,
  type Labels,
  type FieldReader,
  type Resources,
} from '../../k8s/field-reader.ts';
import { taintOf, type Taint } from '../../k8s/taints.ts';

/** A Cluster of a fleet (`cluster.karmada.io/v1alpha1`), reduced to the fields that placement uses. */
export interface Member {
  readonly name: string;
  readonly labels: Labels;
  /** `''` when the Cluster names none; likewise for `region`. */
  readonly provider: string;
  readonly region: string;
  readonly zones: readonly string[];
  readonly taints: readonly Taint[];
  readonly deleting: boolean;
  /** Kinds that the cluster's API server serves, such as `batch/v1 Job`. */
  readonly kinds: ReadonlySet<string>;
  /** Allocatable minus allocated and allocating amounts; undefined while the cluster has reported none. */
  readonly free: Resources | undefined;
  /** Runs of equal nodes by the resource models, smallest grade first; undefined when the cluster has no models. */
  readonly nodes: readonly NodeRun[] | undefined;
}

/** A number of nodes with equal free amounts. */
export interface NodeRun {
  readonly nodes: number;
  readonly free: Resources;
}

/** Pods on one node of a model, by the default of Kubernetes: a model has no number of Pods. */
const PODS_OF_A_NODE = 110;

/** Unreadable fields of `object` are reported to `reading`. */
export function readMemberCluster(object: JsonObject, reading: FieldReader): Member {
  const metadata = own(object, 'metadata');
  const spec = own(object, 'spec');
  const status = own(object, 'status');
  const zone = ownString(spec, 'zone') ?? '';
  const zones = stringsOf(own(spec, 'zones'));
  return {
    name: ownString(metadata, 'name') ?? '',
    labels: labelsOf(own(metadata, 'labels')),
    provider: ownString(spec, 'provider') ?? '',
    region: ownString(spec, 'region') ?? '',
    zones: zones.length === 0 && zone !== '' ? [zone] : zones,
    taints: (ownList(spec, 'taints') ?? []).map(taintOf),
    deleting: ownString(metadata, 'deletionTimestamp') !== undefined,
    kinds: kindsOf(status),
    free: freeOf(own(status, 'resourceSummary'), reading),
    nodes: modelNodes(spec, own(status, 'resourceSummary'), reading),
  };
}

const kindsOf = (status: Json | undefined): ReadonlySet<string> =>
  new Set(
    (ownList(status, 'apiEnablements') ?? []).flatMap((one) =>
      (ownList(one, 'resources') ?? []).map(
        (resource) => `${ownString(one, 'groupVersion') ?? ''} ${ownString(resource, 'kind') ?? ''}`,
      ),
    ),
  );

function freeOf(summary: Json | undefined, reading: FieldReader): Resources | undefined {
  if (summary === undefined || summary === null) return undefined;
  const field = 'status.resourceSummary';
  const amounts = (which: string): Map<string, bigint> =>
    billionths(own(summary, which), `${field}.${which}`, reading);
  const [allocated, allocating] = [amounts('allocated'), amounts('allocating')];
  const free = new Map<string, number>();
  for (const [name, allocatable] of amounts('allocatable')) {
    const left = allocatable - (allocated.get(name) ?? 0n) - (allocating.get(name) ?? 0n);
    free.set(name, left <= 0n ? 0 : (countOf(name, left) ?? Number.MAX_SAFE_INTEGER));
  }
  return free;
}

function billionths(value: Json | undefined, field: string, reading: FieldReader): Map<string, bigint> {
  const amounts = new Map<string, bigint>();
  for (const [name, text] of isObject(value) ? Object.entries(value) : []) {
    const amount = reading.quantity(text, `${field}.${name}`);
    if (amount !== undefined) amounts.set(name, amount);
  }
  return amounts;
}

/** Nodes of each grade, with the lower end of the grade's ranges: the amount that each of these nodes has at least. */
function modelNodes(
  spec: Json | undefined,
  summary: Json | undefined,
  reading: FieldReader,
): readonly NodeRun[] | undefined {
  const models = ownList(spec, 'resourceModels') ?? [];
  const counted = ownList(summary, 'allocatableModelings') ?? [];
  if (models.length === 0 || counted.length === 0) return undefined;
  const counts = new Map<number, number>();
  for (const [index, one] of counted.entries()) {
    const at = `status.resourceSummary.allocatableModelings[${index}]`;
    const grade = reading.integer(own(one, 'grade'), `${at}.grade`, 0);
    const count = reading.integer(own(one, 'count'), `${at}.count`, 0);
    if (count < 0) return undefined;
    counts.set(grade, (counts.get(grade) ?? 0) + count);
  }
  const runs = models.map((model, index) => {
    const at = `spec.resourceModels[${index}]`;
    const grade = reading.integer(own(model, 'grade'), `${at}.grade`, 0);
    const free = new Map([['pods', PODS_OF_A_NODE]]);
    for (const [place, range] of (ownList(model, 'ranges') ?? []).entries()) {
      const name = ownString(range, 'name') ?? '';
      const least = reading.resources({ [name]: own(range, 'min') ?? '0' }, `${at}.ranges[${place}].min`);
      free.set(name, least.get(name) ?? 0);
    }
    return { grade, nodes: counts.get(grade) ?? 0, free };
  });
  return runs
    .filter(({ nodes }) => nodes > 0)
    .sort((a, b) => a.grade - b.grade)
    .map(({ nodes, free }) => ({ nodes, free }));
}
