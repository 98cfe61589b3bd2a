import { isObject, own, ownString, type JsonObject } from '../json/json.ts';
import { groupVersionString } from '../k8s/resource.ts';
import type { GangKind } from './kind.ts';
import { gangKinds, kindAmong, kinds as known } from './kinds.ts';
import { path, valueAt } from './path.ts';

/** The workload that controls the Pods of an object: usually the object itself, else one that its controller creates. */
export interface Controlling {
  readonly workload: JsonObject;
  readonly kind: GangKind;
  /** Path of the workload's `spec` in the object: `spec`, or `spec.jobTemplate.spec`. */
  readonly spec: string;
}

/** The workloads that control an object's Pods; the first controls most of them. */
export function controllersFor(object: JsonObject, kinds: readonly GangKind[] = gangKinds): Controlling[] {
  const children = kindAmong(known, object)?.children;
  if (children === undefined) {
    const itself = kindAmong(kinds, object);
    return itself === undefined ? [] : [{ workload: object, kind: itself, spec: 'spec' }];
  }
  return children.flatMap((one) => {
    const kind = kinds.find((other) => other.group === one.group && other.kind === one.kind);
    const spec = valueAt(object, path(one.spec));
    if (kind === undefined || !isObject(spec)) return [];
    const workload = {
      ...{ apiVersion: groupVersionString(one), kind: one.kind },
      metadata: { name: `${nameOf(object)}${one.suffix}` },
      spec: one.template === true ? { template: spec } : spec,
    };
    return [{ workload, kind, spec: one.spec }];
  });
}

/** The workload that controls most of an object's Pods. */
export const controlling = (object: JsonObject, kinds?: readonly GangKind[]): Controlling | undefined =>
  controllersFor(object, kinds)[0];

/** Path in the object of a field of the workload. */
export const placeIn = ({ spec }: Controlling, field: string): string =>
  field.replace(/^spec(?![\w-])/, spec);

export const nameOf = (object: JsonObject): string => ownString(own(object, 'metadata'), 'name') || 'unnamed';
