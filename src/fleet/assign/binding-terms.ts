import { own, ownString, type JsonObject } from '../../json/json.ts';
import { MUSTER_PREFIX } from '../../api/names.ts';
import { quoted } from '../../text/printable.ts';
import type { FieldReader } from '../../k8s/field-reader.ts';

/**
 * What a binding says beyond its own fields. Annotations, since whoever writes bindings writes them through types of its
 * own and drops fields that it does not know.
 */

/** How replicas are given to clusters: the name of a strategy. */
export const ANNOTATION_STRATEGY = `${MUSTER_PREFIX}custom-scheduling-strategy`;
/** So many replicas have to run for the workload to run at all: `8`, or by template `leader=1,worker=6,eval=0`. */
export const ANNOTATION_MIN_AVAILABLE = `${MUSTER_PREFIX}min-available`;
/** The strategy where none is named: what Karmada does by itself. */
export const DEFAULT_STRATEGY = 'default';

/** The least replicas by template, 0 where it needs none; one that is not in it needs all of them. */
export type MinAvailable = ReadonlyMap<string, number>;

/** The document's field where the definition has it, else the annotation. */
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

/** @param templates of the workload; a workload of one template has one whose name may be empty */
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
      const form = only === undefined ? templates.map((one) => `${one.name}=1`).join(',') : '8';
      reading.wrong(field, `${quoted(part.trim())} is not understood; write it as ${form}`);
      continue;
    }
    // It is read once, and a workload may be scaled below it: then all that are left are needed.
    found.set(template.name, Math.min(Number(digits), template.replicas));
  }
  return found;
}

const annotationOf = (object: JsonObject, key: string): string | undefined =>
  ownString(own(own(object, 'metadata'), 'annotations'), key);
