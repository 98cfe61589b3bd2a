import { isObject, own, ownString, type JsonObject } from '../json/json.ts';
import { groupVersionString } from '../k8s/resource.ts';
import type { GangKind } from './kind.ts';
import { gangKinds, kindAmong, kinds as known } from './kinds.ts';
import { path, valueAt } from './path.ts';

/** What controls the Pods of a workload: for most it is the workload itself. */
export interface Controlling {
  readonly workload: JsonObject;
  readonly kind: GangKind;
  /** Where the `spec` of `workload` stands in the object that was given: `spec`, or `spec.jobTemplate.spec`. */
  readonly spec: string;
}

/** The workloads by which Pods of an object are marked, the first for most of them. */
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

/** The one for most of them. */
export const controlling = (object: JsonObject, kinds?: readonly GangKind[]): Controlling | undefined =>
  controllersFor(object, kinds)[0];

/** Where a field of the workload stands in the object that was given. */
export const placeIn = ({ spec }: Controlling, field: string): string =>
  field.replace(/^spec(?![\w-])/, spec);

export const nameOf = (object: JsonObject): string => ownString(own(object, 'metadata'), 'name') || 'unnamed';
