import { isObject, type Json, type JsonObject } from '../../../../src/json/json.ts';
import { FieldReader, type ObjectFault } from '../../../../src/k8s/field-reader.ts';
import { assign, type Assignment } from '../../../../src/fleet/assign/assign.ts';
import { readBinding, type Binding } from '../../../../src/fleet/assign/binding.ts';
import { byPreference, type Candidate } from '../../../../src/fleet/assign/candidate.ts';
import { readMemberCluster, type Member } from '../../../../src/fleet/assign/member.ts';
import { builtInStrategies } from '../../../../src/fleet/assign/strategies.ts';

/** Fleets as objects, as an API server would give them. */

type Object = Record<string, unknown>;

const asJson = (value: unknown): JsonObject => {
  const plain = JSON.parse(JSON.stringify(value)) as Json;
  if (!isObject(plain)) throw new Error('not an object');
  return plain;
};

export const cluster = (
  name: string,
  free: Object = {},
  more: { spec?: Object; status?: Object; labels?: Object } = {},
): JsonObject =>
  asJson({
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels: more.labels ?? {} },
    spec: more.spec ?? {},
    status: {
      apiEnablements: [
        { groupVersion: 'apps/v1', resources: [{ name: 'deployments', kind: 'Deployment' }] },
        { groupVersion: 'batch.volcano.sh/v1alpha1', resources: [{ name: 'jobs', kind: 'Job' }] },
      ],
      resourceSummary: { allocatable: free },
      ...more.status,
    },
  });

/** Room for so many Pods that ask for one CPU. */
export const room = (name: string, replicas: number): JsonObject =>
  cluster(name, { cpu: replicas, pods: 100_000 });

export const binding = (spec: Object, more: { annotations?: Object; status?: Object } = {}): JsonObject =>
  asJson({
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: 'job', namespace: 'ml', annotations: more.annotations ?? {} },
    spec: {
      resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'ml', name: 'job' },
      replicaRequirements: { resourceRequest: { cpu: '1' } },
      ...spec,
    },
    status: more.status ?? {},
  });

export function read<T>(object: JsonObject, reader: (object: JsonObject, reading: FieldReader) => T): T {
  const { found, faults } = tryRead(object, reader);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return found;
}

export function tryRead<T>(
  object: JsonObject,
  reader: (object: JsonObject, reading: FieldReader) => T,
): { found: T; faults: readonly ObjectFault[] } {
  const reading = new FieldReader('it');
  return { found: reader(object, reading), faults: reading.faults };
}

export const placed = (
  object: JsonObject,
  clusters: readonly JsonObject[],
  strategy?: string,
): Assignment => {
  const found = read(object, readBinding);
  return assign(
    strategy === undefined ? found : { ...found, strategy },
    clusters.map((one) => read(one, readMemberCluster)),
    builtInStrategies(),
  );
};

/** `m1:5 m2:7`, or why not. */
export const shown = ({ clusters, reason, message }: Assignment): string =>
  reason === 'Success'
    ? clusters.map(({ name, replicas }) => `${name}:${replicas}`).join(' ')
    : `${reason}: ${message}`;

/** A cluster by its score and room alone. */
export const candidate = (
  name: string,
  score: number,
  available: number,
  more: Partial<Candidate> = {},
): Candidate => ({
  name,
  member: read(cluster(name), readMemberCluster),
  score,
  tier: 0,
  allocatable: available,
  available,
  ...more,
});

export const preferred = (...candidates: readonly Candidate[]): readonly Candidate[] =>
  [...candidates].sort(byPreference);

export const bindingOf = (spec: Object, more?: { annotations?: Object; status?: Object }): Binding =>
  read(binding(spec, more), readBinding);

export const memberOf = (object: JsonObject): Member => read(object, readMemberCluster);

export const divided = (preference: string, weights?: Object): Object => ({
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: preference,
    ...(weights === undefined ? {} : { weightPreference: weights }),
  },
});

export const DYNAMIC = divided('Weighted', { dynamicWeight: 'AvailableReplicas' });
export const AGGREGATED = divided('Aggregated');
/** `{m1: 3, m2: 2}` as static weights. */
export const fixed = (weights: Readonly<Record<string, number>>): Object =>
  divided('Weighted', {
    staticWeightList: Object.entries(weights).map(([name, weight]) => ({
      targetCluster: { clusterNames: [name] },
      weight,
    })),
  });

export const had = (clusters: Readonly<Record<string, number>>): Object[] =>
  Object.entries(clusters).map(([name, replicas]) => ({ name, replicas }));

/** m1, m2, … with so much room. */
export const rooms = (...replicas: readonly number[]): JsonObject[] =>
  replicas.map((count, index) => room(`m${index + 1}`, count));
