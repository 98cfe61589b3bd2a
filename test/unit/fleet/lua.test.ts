/** The Lua of a kind, run beside the functions that it is made from. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { own, type Json, type JsonObject } from '../../../src/json/json.ts';
import { isHealthy } from '../../../src/fleet/health.ts';
import { customizationOf, luaOf } from '../../../src/fleet/lua/customization.ts';
import {
  multiGetReplicas,
  multiReviseReplica,
  type TemplateReplicas,
} from '../../../src/fleet/multi-replicas.ts';
import { withEdits } from '../../../src/fleet/object-edits.ts';
import { componentsOf, isMultiTemplate, type Component } from '../../../src/workloads/components.ts';
import { kindFrom } from '../../../src/workloads/configured-kinds.ts';
import { path, valueAt } from '../../../src/workloads/path.ts';
import { titleOf, type WorkloadKind } from '../../../src/workloads/workload-kind.ts';
import { workloadKinds } from '../../../src/workloads/kinds.ts';
import { searchLength } from '../../support/length.ts';
import { lua, luaText } from '../../support/lua.ts';
import { objects } from './made-objects.ts';

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
const KINDS = [...workloadKinds, OWN, SERVER];

/** Lua knows no difference between an empty list and an empty object; Karmada looks up which it was. */
const isEmpty = (value: Json): boolean =>
  value !== null && typeof value === 'object' && Object.keys(value).length === 0;

/** Whether a field says how many there are: of a PodGang none does. */
const isCounted = ({ count }: Component): boolean => count !== undefined && count.per > 0;

/** What it comes to, or that it is refused: the words are each one's own. */
function outcome(run: () => unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(run()), (_, value: Json) => (isEmpty(value) ? [] : value));
  } catch {
    return 'refused';
  }
}

const counts = (one: JsonObject): boolean => outcome(() => multiGetReplicas(one, KINDS)) !== 'refused';

describe.each(KINDS.map((kind) => [titleOf(kind), kind] as const))('%s', (_, kind) => {
  test('MultiGetReplicas and MultiReviseReplica are the functions of TypeScript', () => {
    const run = lua(luaOf(kind));
    const revisions = fc.array(
      fc.record({ position: fc.nat({ max: 3 }), replicas: fc.integer({ min: 0, max: 12 }) }),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(objects(kind), revisions, (one, wishes) => {
        const given = luaText(one);
        const wanted = outcome(() => multiGetReplicas(one, KINDS));
        const names = Array.isArray(wanted) ? (wanted as TemplateReplicas[]).map(({ name }) => name) : [];
        const asked = wishes.map(({ position, replicas }) => ({
          templateName: names[position] ?? 'nobody',
          replicas,
        }));
        expect(outcome(() => run(`MultiGetReplicas(${given})`))).toEqual(wanted);
        const revised = outcome(() => multiReviseReplica(one, asked, KINDS));
        expect(outcome(() => run(`MultiReviseReplica(${given}, ${luaText(asked)})`))).toEqual(revised);
      }),
      { numRuns: searchLength({ short: 15, long: 400 }) },
    );
    // Lua takes its time: whether the generator makes objects that are counted is asked of more of them.
    const counted = fc.sample(objects(kind), 500).filter((one) => counts(one));
    expect(counted.length).toBeGreaterThan(0);
  });

  test('its customization says the same to Karmada', () => {
    const { spec } = customizationOf(kind) as unknown as {
      spec: { target: object; customizations: Record<string, { luaScript: string }> };
    };
    const { componentResource, replicaResource, replicaRevision, healthInterpretation } = spec.customizations;
    expect(spec.target).toEqual({ apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind });
    const [one] = fc.sample(
      objects(kind).filter((made) => {
        const named = outcome(() => componentsOf(made, kind)) as Component[] | 'refused';
        return named !== 'refused' && named.length > 0 && (named.some(isCounted) || kind.kind === 'PodGang');
      }),
      { numRuns: 1, seed: 1 },
    ) as [JsonObject];
    const told = multiGetReplicas(one, KINDS);
    const given = luaText(one);
    const counted = componentsOf(one, kind).find(isCounted);
    if (counted?.count !== undefined) {
      const { name, count } = counted;
      const seven = `MultiReviseReplica(${given}, ${luaText([{ templateName: name, replicas: count.per * 7 }])})`;
      expect(outcome(() => valueAt(lua(luaOf(kind))(seven), count.path))).toBe(7);
    }
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

test('a kind of code that nobody wrote in Lua says so', () => {
  const jobSet = workloadKinds.find((one) => one.kind === 'JobSet') as WorkloadKind;
  const kind: WorkloadKind = { ...jobSet, lua: undefined };
  expect(() => luaOf(kind)).toThrow(
    'jobset.x-k8s.io/v1alpha2 JobSet cannot be written as Lua: its numbers of Pods are computed, and no path leads to them',
  );
});
