import { parsedJson, isObject, own, ownString, type JsonObject } from '../../json/json.ts';
import { MUSTER_PREFIX } from '../../api/names.ts';
import type { FieldReader } from '../../k8s/field-reader.ts';
import type { ComponentReplicas, TargetCluster } from './target-cluster.ts';

/**
 * How many replicas of each template went where, as JSON: `{"m1":{"master":1,"worker":4}}`. Karmada's released
 * definitions drop `spec.clusters[].components`; without it a gang that runs would be counted as not there.
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

/** The text for these clusters; undefined where none has components. */
export function placedComponentsText(clusters: readonly TargetCluster[]): string | undefined {
  const entries = clusters.flatMap(({ name, components }) =>
    components === undefined
      ? []
      : [[name, Object.fromEntries(components.map((one) => [one.name, one.replicas]))] as const],
  );
  return entries.length === 0 ? undefined : JSON.stringify(Object.fromEntries(entries));
}
