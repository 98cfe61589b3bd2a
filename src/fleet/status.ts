import { isObject, own, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';

/** Status of a workload in one cluster. */
export interface ClusterStatus {
  readonly clusterName: string;
  /** undefined while Karmada has collected none, or an empty one. */
  readonly status: JsonObject | undefined;
}

/** Annotation by Karmada on each copy of a workload: the generation of the template that it was made from. */
const TEMPLATE_GENERATION = 'resourcetemplate.karmada.io/generation';
/**
 * Fields that show whether a cluster's controller has observed the current spec. They are not part of the workload's status.
 */
const GENERATIONS = ['generation', 'resourceTemplateGeneration'];

/** The collected status of a workload in a member cluster, with the generation that it belongs to. */
export function reflectedStatus(object: JsonObject): JsonObject {
  const status = ownObject(object, 'status') ?? {};
  if (typeof own(status, 'observedGeneration') !== 'number') return status;
  const metadata = own(object, 'metadata');
  const generation = own(metadata, 'generation');
  const template = Number(ownString(own(metadata, 'annotations'), TEMPLATE_GENERATION) ?? NaN);
  return {
    ...status,
    ...(typeof generation === 'number' && { generation }),
    ...(Number.isSafeInteger(template) && { resourceTemplateGeneration: template }),
  };
}

/**
 * The status of a workload from its clusters, in any order. A single cluster's status is used unchanged. For several
 * clusters counts are added, the worst phase is used, conditions have to be True in all clusters (failures: in any), and
 * other fields are kept when all clusters agree. undefined when no cluster reports a status: the known status stays.
 */
export function aggregatedStatus(
  object: JsonObject,
  clusters: readonly ClusterStatus[],
  kind: WorkloadKind,
): JsonObject | undefined {
  const sorted = [...clusters].sort((a, b) => (a.clusterName < b.clusterName ? -1 : 1));
  const told = sorted.flatMap(({ clusterName, status }) =>
    status === undefined ? [] : [{ clusterName, status }],
  );
  const [first] = told;
  if (first === undefined) return undefined;
  const missing = told.length < sorted.length;
  const merged =
    told.length === 1 && !missing
      ? first.status
      : new Merging(
          kind,
          told.map((one) => one.clusterName),
          missing,
        ).objects(
          told.map(({ status }) => status),
          '',
        );
  const { observedGeneration, ...rest } = Object.fromEntries(
    Object.entries(merged).filter(([key]) => !GENERATIONS.includes(key)),
  );
  const observed = observedGenerationOf(object, told, missing);
  if (observed !== undefined) return { ...rest, observedGeneration: observed };
  // A cluster's observedGeneration counts that cluster's own generations, so the workload's previous value is kept.
  const before = own(own(object, 'status'), 'observedGeneration');
  return observedGeneration !== undefined && before !== undefined
    ? { ...rest, observedGeneration: before }
    : rest;
}

/** The template's generation once every cluster has observed it. */
function observedGenerationOf(
  object: JsonObject,
  told: readonly { readonly status: JsonObject }[],
  missing: boolean,
): number | undefined {
  const wanted = own(own(object, 'metadata'), 'generation');
  if (typeof wanted !== 'number' || missing) return undefined;
  const number = (status: JsonObject, key: string): number => {
    const value = own(status, key);
    return typeof value === 'number' ? value : NaN;
  };
  const seen = told.every(
    ({ status }) =>
      number(status, 'resourceTemplateGeneration') >= wanted &&
      number(status, 'observedGeneration') >= number(status, 'generation'),
  );
  return seen ? wanted : undefined;
}

/** Conditions that are True when one cluster reports True. */
const OF_ANY = [
  'Failed',
  'FailureTarget',
  'ReplicaFailure',
  'Unhealthy',
  'Suspended',
  'MinAvailableBreached',
  'Restarting',
];

class Merging {
  readonly #kind: WorkloadKind;
  readonly #clusters: readonly string[];
  /** Whether some cluster reports no status. */
  readonly #missing: boolean;

  constructor(kind: WorkloadKind, clusters: readonly string[], missing: boolean) {
    this.#kind = kind;
    this.#clusters = clusters;
    this.#missing = missing;
  }

  objects(values: readonly JsonObject[], path: string): JsonObject {
    const keys = [...new Set(values.flatMap((value) => Object.keys(value)))];
    return Object.fromEntries(
      keys.flatMap((key) => {
        const found = this.#one(
          values.map((value) => own(value, key)),
          path === '' ? key : `${path}.${key}`,
        );
        return found === undefined ? [] : [[key, found]];
      }),
    );
  }

  #one(values: readonly (Json | undefined)[], path: string): Json | undefined {
    const { sums, phases } = this.#kind.status;
    if (sums.includes(path)) return sumOf(values);
    const phase = phases.find((one) => one.path === path);
    if (phase !== undefined) return this.#worst(values, phase);
    if (path === 'conditions') return this.#conditions(values);
    const objects = values.filter(isObject);
    if (objects.length === values.length) return this.objects(objects, path);
    const [first] = values;
    const text = JSON.stringify(first);
    return values.every((value) => JSON.stringify(value) === text) ? first : undefined;
  }

  #worst(
    values: readonly (Json | undefined)[],
    { order, waiting }: WorkloadKind['status']['phases'][number],
  ): string {
    const phases = values.map((value) => (typeof value === 'string' ? value : waiting));
    if (this.#missing) phases.push(waiting);
    const rank = (phase: string): number => {
      const known = order.indexOf(phase);
      // An unknown phase ranks as the worst, so that it is shown.
      return known < 0 ? -1 : known;
    };
    return phases.reduce((worst, phase) => (rank(phase) < rank(worst) ? phase : worst));
  }

  #conditions(values: readonly (Json | undefined)[]): readonly Json[] {
    const lists = values.map((value) =>
      Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [],
    );
    const types = [...new Set(lists.flatMap((list) => list.map((one) => ownString(one, 'type') ?? '')))];
    const bad = [...OF_ANY, ...this.#kind.health.conditions];
    return types.flatMap((type) => {
      const found = lists.map((list) => list.find((one) => ownString(one, 'type') === type));
      const wanted = bad.includes(type) ? 'True' : 'False';
      const isOdd = (one: JsonObject | undefined): boolean =>
        bad.includes(type) ? ownString(one, 'status') === wanted : ownString(one, 'status') !== 'True';
      const odd = found.findIndex(isOdd);
      const at = odd < 0 ? found.findIndex((one) => one !== undefined) : odd;
      const deciding = found[at];
      // The condition is omitted while a cluster without a status may still contradict it.
      if (deciding === undefined || (odd < 0 && this.#missing && !bad.includes(type))) return [];
      const message = ownString(deciding, 'message');
      return [message ? { ...deciding, message: `${this.#clusters[at] ?? ''}: ${message}` } : deciding];
    });
  }
}

/** The sum of numbers; of objects the sum for each key. */
function sumOf(values: readonly (Json | undefined)[]): Json | undefined {
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length > 0) return numbers.reduce((sum, one) => sum + one, 0);
  const objects = values.filter(isObject);
  if (objects.length === 0) return undefined;
  const keys = [...new Set(objects.flatMap((value) => Object.keys(value)))];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const sum = sumOf(objects.map((value) => own(value, key)));
      return sum === undefined ? [] : [[key, sum]];
    }),
  );
}

/** The readable items of the list that Karmada sends. */
export const clusterStatuses = (list: Json | undefined): ClusterStatus[] =>
  (Array.isArray(list) ? (list as readonly Json[]) : []).filter(isObject).map((item) => {
    const status = ownObject(item, 'status') ?? {};
    return {
      clusterName: ownString(item, 'clusterName') ?? '',
      status: Object.keys(status).length > 0 ? status : undefined,
    };
  });
