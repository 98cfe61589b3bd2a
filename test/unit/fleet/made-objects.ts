/** Random workloads of every kind: those with shapes by their fields, the others by what is written for each. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/json/json.ts';
import { withEdits } from '../../../src/fleet/object-edits.ts';
import { path } from '../../../src/workloads/path.ts';
import type { TemplateShape, WorkloadKind } from '../../../src/workloads/workload-kind.ts';
import { computedObjects, itemName, number, podTemplate } from './computed-objects.ts';

type Edits = readonly { readonly at: string; readonly value: Json | undefined }[];

const object = (kind: WorkloadKind, edits: Edits): JsonObject =>
  withEdits(
    {
      apiVersion: `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata: { name: 'train' },
      spec: { kept: 'as it is' },
    },
    edits.flatMap(({ at, value }) => (value === undefined ? [] : [{ path: path(at), value }])),
  );

function edits(shape: TemplateShape): fc.Arbitrary<Edits> {
  if (shape.as === 'alone') {
    const { template, replicas, minAvailable } = shape;
    return fc
      .tuple(podTemplate, number(9), number(4))
      .map(([pod, count, least]) => [
        { at: template, value: pod },
        ...(replicas === undefined ? [] : [{ at: replicas, value: count }]),
        ...(minAvailable === undefined ? [] : [{ at: minAvailable, value: least }]),
      ]);
  }
  if (shape.as === 'list') {
    const { items, name = 'name', template, replicas = 'replicas', minAvailable = 'minAvailable' } = shape;
    const item = fc.tuple(itemName, podTemplate, number(9), number(4)).map(([called, pod, count, least]) =>
      object({ group: '', version: '', kind: '' } as WorkloadKind, [
        { at: name, value: called },
        { at: template, value: pod },
        { at: replicas, value: count },
        { at: minAvailable, value: least },
      ]),
    );
    return fc.array(item, { minLength: 1, maxLength: 4 }).map((value) => [{ at: items, value }]);
  }
  const role = fc
    .tuple(podTemplate, number(9))
    .map(([template, replicas]): JsonObject => ({ template, ...(replicas !== undefined && { replicas }) }));
  const roles = fc.dictionary(fc.constantFrom(...shape.roles, 'Other', 'Another'), role, {
    minKeys: 1,
    maxKeys: 4,
  });
  return fc
    .tuple(roles, number(4))
    .map(([value, least]) => [
      { at: shape.at, value },
      ...(shape.elastic === undefined ? [] : [{ at: shape.elastic, value: least }]),
    ]);
}

export function objects(kind: WorkloadKind): fc.Arbitrary<JsonObject> {
  const { group, kind: name, shapes, totalMinimum } = kind;
  if (shapes === undefined)
    return (computedObjects[`${name}.${group}`] as fc.Arbitrary<JsonObject>).map((spec) => ({
      ...object(kind, []),
      spec,
    }));
  return fc.tuple(...shapes.map(edits), number(9)).map((parts) => {
    const total = parts.at(-1) as Json | undefined;
    const all = (parts.slice(0, -1) as Edits[]).flat();
    return object(kind, totalMinimum === undefined ? all : [...all, { at: totalMinimum, value: total }]);
  });
}
