/** The Lua of a kind, run beside the functions that it is made from. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { own, type Json, type JsonObject } from '../../../src/api/json.ts';
import { isHealthy } from '../../../src/fleet/health.ts';
import { customizationOf, luaOf } from '../../../src/fleet/lua/customization.ts';
import { multiGetReplicas, multiReviseReplica } from '../../../src/fleet/multi-replicas.ts';
import { withEdits } from '../../../src/fleet/object-edits.ts';
import { isMultiTemplate } from '../../../src/workloads/components.ts';
import { kindFrom } from '../../../src/workloads/configured-kinds.ts';
import { path } from '../../../src/workloads/path.ts';
import type { TemplateShape } from '../../../src/workloads/template-shape.ts';
import { titleOf, type WorkloadKind } from '../../../src/workloads/workload-kind.ts';
import { workloadKinds } from '../../../src/workloads/workload-kinds.ts';
import { inLength } from '../../support/length.ts';
import { lua, luaText } from '../../support/lua.ts';

const OWN = kindFrom({
  group: 'example.com',
  version: 'v1',
  kind: 'Trainer',
  minAvailable: 'spec.minMember',
  templates: [
    { name: 'driver', template: 'spec.driver.pod', replicas: 'spec.driver.count' },
    { items: 'spec.roles', nameFrom: 'role', template: 'template', replicas: 'count', minAvailable: 'least' },
  ],
});
const SERVER = kindFrom({
  group: 'example.com',
  version: 'v1',
  kind: 'Server',
  templates: [],
  single: { template: 'spec.template', replicas: 'spec.size', minAvailable: 'spec.least' },
});
const KINDS = [...workloadKinds.filter(({ shapes = [] }) => shapes.length > 0), OWN, SERVER];

const podTemplate = fc
  .record({ cpu: fc.integer({ min: 1, max: 9 }), name: fc.constantFrom(undefined, 'web') })
  .map(({ cpu, name }): JsonObject => ({
    ...(name !== undefined && { metadata: { name } }),
    spec: { containers: [{ resources: { requests: { cpu: String(cpu) } } }] },
  }));
const number = (most: number): fc.Arbitrary<Json | undefined> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: most }) },
    { weight: 2, arbitrary: fc.constant(undefined) },
    fc.constantFrom('', '3', 'x', -1, 1.5),
  );
const LONG = 'a-name-that-is-longer-than-karmada-stores';
const itemName = fc.constantFrom<Json | undefined>(
  'a',
  'b',
  'a',
  undefined,
  '',
  LONG,
  `${LONG}-2`,
  LONG.slice(0, 31),
);

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

const objects = (kind: WorkloadKind): fc.Arbitrary<JsonObject> =>
  fc.tuple(...(kind.shapes ?? []).map(edits), number(9)).map((parts) => {
    const total = parts.at(-1) as Json | undefined;
    const all = (parts.slice(0, -1) as Edits[]).flat();
    return object(
      kind,
      kind.totalMinimum === undefined ? all : [...all, { at: kind.totalMinimum, value: total }],
    );
  });

/** What it comes to, or that it is refused: the words are each one's own. */
function outcome(run: () => unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(run()));
  } catch {
    return 'refused';
  }
}

describe.each(KINDS.map((kind) => [titleOf(kind), kind] as const))('%s', (_, kind) => {
  test('MultiGetReplicas and MultiReviseReplica are the functions of TypeScript', () => {
    const run = lua(luaOf(kind));
    const seen = new Set<string>();
    const revisions = fc.array(
      fc.record({
        templateName: fc.constantFrom(
          'a',
          'b',
          'main',
          'web',
          'worker',
          'master',
          'task-1',
          'driver',
          'nobody',
        ),
        replicas: fc.integer({ min: 0, max: 12 }),
      }),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(objects(kind), revisions, (one, asked) => {
        const given = luaText(one);
        const wanted = outcome(() => multiGetReplicas(one, KINDS));
        expect(outcome(() => run(`MultiGetReplicas(${given})`))).toEqual(wanted);
        const revised = outcome(() => multiReviseReplica(one, asked, KINDS));
        expect(outcome(() => run(`MultiReviseReplica(${given}, ${luaText(asked)})`))).toEqual(revised);
        seen.add(wanted === 'refused' ? 'refused' : 'counted');
      }),
      { numRuns: inLength({ short: 15, long: 400 }) },
    );
    expect([...seen].sort()).toContain('counted');
  });

  test('its customization says the same to Karmada', () => {
    const { spec } = customizationOf(kind) as unknown as {
      spec: { target: object; customizations: Record<string, { luaScript: string }> };
    };
    const { componentResource, replicaResource, replicaRevision, healthInterpretation } = spec.customizations;
    expect(spec.target).toEqual({ apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind });
    const [one] = fc.sample(
      objects(kind).filter((made) => outcome(() => multiGetReplicas(made, KINDS)) !== 'refused'),
      { numRuns: 1, seed: 1 },
    ) as [JsonObject];
    const told = multiGetReplicas(one, KINDS);
    const given = luaText(one);
    if (isMultiTemplate(kind)) {
      expect(lua(componentResource?.luaScript ?? '')(`GetComponents(${given})`)).toEqual(
        told.map(({ name, replicas, requirements }) => ({
          name,
          replicas,
          replicaRequirements: requirements,
        })),
      );
      // Karmada asks each target for 0 of it: whoever answers scales a gang to nothing.
      expect(replicaRevision).toBeUndefined();
    } else {
      expect(lua(replicaResource?.luaScript ?? '')(`{ GetReplicas(${given}) }`)).toEqual([
        told[0]?.replicas,
        told[0]?.requirements,
      ]);
      const five = [{ templateName: told[0]?.name ?? '', replicas: 5 }];
      expect(lua(replicaRevision?.luaScript ?? '')(`ReviseReplica(${given}, 5)`)).toEqual(
        multiReviseReplica(one, five, KINDS),
      );
    }
    const healthOf = lua(healthInterpretation?.luaScript ?? '');
    for (const status of statuses(kind)) {
      const live: JsonObject = { ...one, metadata: { generation: 2 }, status };
      expect([status, healthOf(`InterpretHealth(${luaText(live)})`)]).toEqual([
        status,
        isHealthy(live, kind),
      ]);
    }
  });
});

/** A status for each sign of a kind, and some of none. */
function statuses({ health: { phases, conditions, ready = [] } }: WorkloadKind): JsonObject[] {
  const under = (at: string, value: Json): JsonObject =>
    own(withEdits({}, [{ path: path(at), value }]), 'status') as JsonObject;
  return [
    {},
    { observedGeneration: 1 },
    ...phases.flatMap(({ path: at, values }) => [...values, 'Running'].map((value) => under(at, value))),
    ...[...conditions, 'Complete'].flatMap((type) =>
      ['True', 'False'].map((status) => ({ conditions: [{ type, status }] })),
    ),
    ...ready.map(({ has }) => under(has, 99)),
    Object.assign({}, ...ready.map(({ has }) => under(has, 99))) as JsonObject,
  ];
}

test('a kind whose numbers no path leads to says so', () => {
  const set = workloadKinds.find(({ kind }) => kind === 'LeaderWorkerSet') as WorkloadKind;
  expect(() => luaOf(set)).toThrow(
    'leaderworkerset.x-k8s.io/v1 LeaderWorkerSet cannot be written as Lua: its numbers of Pods are computed, and no path leads to them',
  );
});
