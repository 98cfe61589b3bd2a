import { own, ownString, parsedJson, isObject, type JsonObject } from '../../json/json.ts';
import { MUSTER_PREFIX } from '../../api/names.ts';
import { printable, quoted } from '../../text/printable.ts';
import type { FieldReader } from '../../k8s/field-reader.ts';
import type { ComponentReplicas, TargetCluster } from './candidate.ts';

/**
 * Settings of a binding beyond its own fields. They are annotations, since writers of bindings use typed clients, which drop
 * fields that they do not know.
 */

/** Name of the strategy that divides the replicas among clusters. */
export const ANNOTATION_STRATEGY = `${MUSTER_PREFIX}custom-scheduling-strategy`;
/** Smallest number of replicas that the workload runs with: `8`, or by template `leader=1,worker=6,eval=0`. */
export const ANNOTATION_MIN_AVAILABLE = `${MUSTER_PREFIX}min-available`;
/** The strategy of bindings that name none: Karmada's own division. */
export const DEFAULT_STRATEGY = 'default';

/**
 * Minimum of replicas by template; 0 for an optional template. A template that is not in the map needs all of its replicas.
 */
export type MinAvailable = ReadonlyMap<string, number>;

/** The strategy in the binding's field when the CRD has the field, else in the annotation. */
export function strategyOf(object: JsonObject, reading: FieldReader): string {
  const scheduling = own(own(own(object, 'spec'), 'placement'), 'replicaScheduling');
  const field = ownString(scheduling, 'customSchedulingStrategy') ?? '';
  const annotation = annotationOf(object, ANNOTATION_STRATEGY) ?? '';
  if (field !== '' && annotation !== '' && field !== annotation)
    reading.wrong(
      'spec.placement.replicaScheduling.customSchedulingStrategy',
      `is ${quoted(field)}, but annotation ${ANNOTATION_STRATEGY} says ${quoted(annotation)}; name one strategy`,
    );
  return field || annotation || DEFAULT_STRATEGY;
}

/** @param templates of the workload; the name of an only template may be empty */
export function minAvailableOf(
  object: JsonObject,
  templates: readonly { readonly name: string; readonly replicas: number }[],
  reading: FieldReader,
): MinAvailable {
  const text = annotationOf(object, ANNOTATION_MIN_AVAILABLE)?.trim();
  const found = new Map<string, number>();
  if (text === undefined || text === '') return found;
  const field = `metadata.annotations["${ANNOTATION_MIN_AVAILABLE}"]`;
  const [only] = templates.length === 1 ? templates : [];
  for (const part of text.split(',')) {
    const [, name = only?.name, digits = ''] = /^(?:([^=]+)=)?(\d{1,10})$/.exec(part.trim()) ?? [];
    const template = templates.find((one) => one.name === name) ?? only;
    if (digits === '' || template === undefined) {
      const form = only === undefined ? printable(templates.map((one) => `${one.name}=1`).join(',')) : '8';
      reading.wrong(field, `${quoted(part.trim())} is not understood; write it as ${form}`);
      continue;
    }
    // Capped at the replicas: the annotation is written once, and the workload may be scaled below it later.
    found.set(template.name, Math.min(Number(digits), template.replicas));
  }
  return found;
}

const annotationOf = (object: JsonObject, key: string): string | undefined =>
  ownString(own(own(object, 'metadata'), 'annotations'), key);

/**
 * Replicas of each template by cluster, as JSON: `{"m1":{"master":1,"worker":4}}`. Needed because Karmada's released CRDs
 * drop `spec.clusters[].components`: without it a running gang would count as absent.
 */
export const ANNOTATION_PLACED_COMPONENTS = `${MUSTER_PREFIX}placed-components`;

export function placedComponentsOf(
  object: JsonObject,
  reading: FieldReader,
): ReadonlyMap<string, readonly ComponentReplicas[]> {
  const found = new Map<string, readonly ComponentReplicas[]>();
  const annotations = own(own(object, 'metadata'), 'annotations');
  const text = ownString(annotations, ANNOTATION_PLACED_COMPONENTS);
  if (text === undefined) return found;
  const clusters = parsedJson(text);
  if (!isObject(clusters)) {
    reading.wrong(
      `metadata.annotations["${ANNOTATION_PLACED_COMPONENTS}"]`,
      'is not what Muster wrote; remove it: the gang then counts as placed whole',
    );
    return found;
  }
  for (const [cluster, counts] of Object.entries(clusters))
    found.set(
      cluster,
      Object.entries(isObject(counts) ? counts : {}).flatMap(([name, replicas]) =>
        typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0
          ? [{ name, replicas }]
          : [],
      ),
    );
  return found;
}

/** The annotation's value for these clusters; undefined when none has components. */
export function placedComponentsText(clusters: readonly TargetCluster[]): string | undefined {
  const entries = clusters.flatMap(({ name, components }) =>
    components === undefined
      ? []
      : [[name, Object.fromEntries(components.map((one) => [one.name, one.replicas]))] as const],
  );
  return entries.length === 0 ? undefined : JSON.stringify(Object.fromEntries(entries));
}
