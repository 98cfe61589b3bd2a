/** Groups of a gang that belong together, and what is only preferred. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { own, ownString, type Json, type JsonObject } from '../../../src/json/json.ts';
import { anonymizer } from '../../../src/cli/snapshot/anonymous.ts';
import { ClusterState } from '../../../src/preemption/cluster-state.ts';
import { place } from '../../../src/preemption/place.ts';
import { cheaper, costOf } from '../../../src/preemption/plan-pod.ts';
import { planPreemption } from '../../../src/preemption/plan.ts';
import type { PreemptionPlan } from '../../../src/preemption/search.ts';
import { preemptorOf, type Preemptor } from '../../../src/preemption/preemptor.ts';
import { trimmed } from '../../../src/preemption/read/trim.ts';
import type { Scope, Snapshot } from '../../../src/preemption/snapshot.ts';
import { confined, type DomainChoice } from '../../../src/preemption/topology.ts';
import { searchLength } from '../../support/length.ts';
import { node, planFor, pod, podGang, priorityClass, snapshotOf, type PodIn } from './small-cluster.ts';

const ZONE = 'topology.kubernetes.io/zone';
const RACK = 'acme.example/rack';
const high = priorityClass('high', 100);

const nameOf = (value: Json | undefined): string => ownString(value, 'name') ?? '';

interface Packs {
  readonly gang?: JsonObject;
  readonly configs?: readonly { readonly of: readonly string[]; readonly pack: JsonObject }[];
  readonly groups?: Readonly<Record<string, JsonObject>>;
}

/** A gang with groups of so many Pods. */
function gangOf(
  groups: Readonly<Record<string, number>>,
  { gang, configs = [], groups: packs = {} }: Packs,
): JsonObject {
  const constraint = (pack: JsonObject | undefined): JsonObject =>
    pack === undefined ? {} : { topologyConstraint: { packConstraint: pack } };
  const made = podGang('new', { className: 'high', groups });
  const spec = made['spec'] as JsonObject & { readonly podgroups: readonly JsonObject[] };
  return {
    ...made,
    spec: {
      ...spec,
      ...constraint(gang),
      podgroups: spec.podgroups.map((group) => ({ ...group, ...constraint(packs[nameOf(group)]) })),
      topologyConstraintGroupConfigs: configs.map(({ of, pack }, index) => ({
        name: `config-${index}`,
        podGroupNames: [...of],
        ...constraint(pack),
      })),
    },
  };
}

const membersOf = (groups: Readonly<Record<string, number>>, cpu = 1): PodIn[] =>
  Object.entries(groups).flatMap(([group, count]) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${group}-${index}`,
      cpu,
      prio: 100,
      gang: 'new',
      group,
    })),
  );

/** `zone-rack` by name: a node in both. */
const rackNode = (name: string, cpu: number): JsonObject => {
  const [zone = '', rack = ''] = [name.slice(0, 1), name.slice(0, 2)];
  return node(name, cpu, {}, { labels: { [ZONE]: zone, [RACK]: rack } });
};
const full = (on: string, prio: number, cpu = 1, name = `on-${on}`): JsonObject =>
  pod({ name, on, cpu, prio });

function told({ feasible, victims, placement, domains, rejected }: PreemptionPlan) {
  return {
    feasible,
    victims: victims.map(({ unit }) => unit.name),
    at: Object.fromEntries([...placement].map(([key, on]) => [key.replace('ns/', ''), on])),
    domains: domains.map(
      ({ scope, value = '-' }) => `${scope.groups?.join('+') ?? '*'} ${scope.key} ${value}`,
    ),
    why: [...new Set(rejected.flatMap(({ messages }) => messages))],
  };
}

const twoEach = { leader: 2, worker: 2 };
const find = (
  packs: Packs,
  objects: readonly JsonObject[],
  groups: Readonly<Record<string, number>> = twoEach,
) => told(planFor(membersOf(groups), [...objects, gangOf(groups, packs), high], 'kep'));

describe('what is required of a group', () => {
  const nodes = ['a1x', 'a2x', 'b1x', 'b2x'].map((name) => rackNode(name, 2));

  test('each group in a rack of its own choice: the first by name with room for it', () => {
    const groups = { leader: { required: RACK }, worker: { required: RACK } };
    expect(find({ groups }, nodes)).toMatchObject({
      feasible: true,
      at: { 'leader-0': 'a1x', 'leader-1': 'a1x', 'worker-0': 'a2x', 'worker-1': 'a2x' },
      domains: [`leader ${RACK} a1`, `worker ${RACK} a2`],
    });
  });

  test('a group without a constraint goes where it likes', () => {
    const { at } = find({ groups: { leader: { required: RACK } } }, nodes);
    expect([at['leader-0'], at['leader-1']]).toEqual(['a1x', 'a1x']);
    expect(new Set([at['worker-0'], at['worker-1']]).size).toBe(2);
  });

  test('several groups together, within what is required of all', () => {
    const packs = {
      gang: { required: ZONE },
      configs: [{ of: ['leader', 'worker'], pack: { required: RACK } }],
    };
    const large = [...nodes.slice(0, 3), rackNode('b2x', 4)];
    expect(find(packs, large)).toMatchObject({
      at: { 'leader-0': 'b2x', 'worker-1': 'b2x' },
      domains: [`* ${ZONE} b`, `leader+worker ${RACK} b2`],
    });
  });

  test('a configuration of no group constrains nothing', () => {
    const { domains, feasible } = find({ configs: [{ of: [], pack: { required: 'nowhere' } }] }, nodes);
    expect({ domains, feasible }).toEqual({ domains: [], feasible: true });
  });

  test('room is made where that costs least', () => {
    const objects = [...nodes, full('a1x', 50), full('a2x', 50), full('b1x', 10), full('b2x', 20)];
    expect(find({ groups: { leader: { required: RACK } } }, objects, { leader: 2 })).toMatchObject({
      victims: ['on-b1x'],
      domains: [`leader ${RACK} b1`],
    });
  });

  test('members of the group that run have chosen; those of another group have not', () => {
    const runs = pod({ name: 'leader-9', on: 'b2x', cpu: 1, prio: 100, gang: 'new', group: 'leader' });
    const packs = { groups: { leader: { required: RACK }, worker: { required: RACK } } };
    const { domains } = told(
      planFor(membersOf({ leader: 1, worker: 2 }), [...nodes, runs, gangOf(twoEach, packs), high], 'kep'),
    );
    expect(domains).toEqual([`leader ${RACK} b2`, `worker ${RACK} a1`]);
  });

  test('a Pod that wants to be elsewhere itself is in no domain of the others', () => {
    const members = membersOf({ leader: 2 }).map((one, index) =>
      index === 0 ? { ...one, spec: { nodeSelector: { [ZONE]: 'b' } } } : one,
    );
    const objects = [...nodes, gangOf({ leader: 2 }, { groups: { leader: { required: ZONE } } }), high];
    const { at, domains } = told(planFor(members, objects, 'kep'));
    expect(domains).toEqual([`leader ${ZONE} b`]);
    expect(Object.values(at).every((on) => on.startsWith('b'))).toBe(true);
  });

  test('no domain is large enough: which group, and which label', () => {
    expect(find({ groups: { worker: { required: RACK } } }, nodes, { leader: 1, worker: 3 })).toMatchObject({
      feasible: false,
      domains: [],
      why: [`node(s) in a domain of ${RACK} without room for group worker`],
    });
  });

  test('… alone it would be, but not beside the rest', () => {
    const packs = { gang: { required: ZONE }, groups: { worker: { required: RACK } } };
    const narrow = ['a1x', 'a2x', 'b1x', 'b2x'].map((name) => rackNode(name, name === 'a1x' ? 3 : 1));
    expect(find(packs, narrow, { leader: 2, worker: 3 })).toMatchObject({
      feasible: false,
      why: [`node(s) in a domain of ${ZONE} without room for the whole gang`],
    });
    const even = ['a1x', 'a2x', 'b1x', 'b2x'].map((name) => rackNode(name, 2));
    expect(find(packs, even, { leader: 1, worker: 3 })).toMatchObject({
      feasible: false,
      why: [`node(s) in a domain of ${RACK} without room for group worker where the rest of the gang may be`],
    });
  });
});

describe('what is preferred', () => {
  const nodes = ['a1x', 'a2x', 'b1x', 'b2x'].map((name) => rackNode(name, name.startsWith('b2') ? 2 : 1));

  test('is kept where it fits, also if another required domain has to be taken for it', () => {
    expect(find({ gang: { required: ZONE } }, nodes, { worker: 2 }).domains).toEqual([`* ${ZONE} a`]);
    expect(find({ gang: { required: ZONE, preferred: RACK } }, nodes, { worker: 2 })).toMatchObject({
      domains: [`* ${ZONE} b`, `* ${RACK} b2`],
      at: { 'worker-0': 'b2x', 'worker-1': 'b2x' },
    });
  });

  test('of all, around what is required of each group', () => {
    const groups = { leader: { required: RACK }, worker: { required: RACK } };
    expect(find({ gang: { preferred: ZONE }, groups }, nodes, { leader: 2, worker: 1 })).toMatchObject({
      domains: [`leader ${RACK} b2`, `worker ${RACK} b1`, `* ${ZONE} b`],
    });
  });

  test('is left where it does not fit', () => {
    expect(find({ gang: { preferred: RACK } }, nodes, { worker: 3 })).toMatchObject({
      feasible: true,
      victims: [],
      domains: [`* ${RACK} -`],
    });
  });

  test('one wish after the other: of all, of several groups, of one', () => {
    const packs = {
      gang: { preferred: ZONE },
      groups: { leader: { preferred: RACK }, worker: { preferred: RACK } },
    };
    expect(find(packs, nodes, { leader: 1, worker: 2 })).toMatchObject({
      domains: [`* ${ZONE} b`, `leader ${RACK} b1`, `worker ${RACK} b2`],
    });
  });

  test('nobody goes for a wish', () => {
    const objects = [...nodes, full('b2x', 10)];
    expect(find({ gang: { preferred: RACK } }, objects, { worker: 2 })).toMatchObject({
      feasible: true,
      victims: [],
      domains: [`* ${RACK} -`],
    });
  });

  test('and nobody more, or more important: but where it costs the same it is kept', () => {
    const each = [rackNode('a1x', 1), rackNode('a1y', 1), rackNode('b1x', 1), rackNode('b2x', 1)];
    const at = (prios: readonly number[]): JsonObject[] =>
      each.map((one, index) => full(nameOf(own(one, 'metadata')), prios[index] ?? 0));
    const wish = { gang: { preferred: RACK } };
    expect(find(wish, [...each, ...at([10, 10, 10, 10])], { worker: 2 })).toMatchObject({
      domains: [`* ${RACK} a1`],
      victims: ['on-a1x', 'on-a1y'],
    });
    expect(find(wish, [...each, ...at([20, 10, 10, 10])], { worker: 2 })).toMatchObject({
      domains: [`* ${RACK} -`],
      victims: ['on-a1y', 'on-b1x'],
    });
  });
});

test('a snapshot keeps all of it, and hides whose labels and groups they are', () => {
  const gang = gangOf(twoEach, {
    gang: { preferred: RACK },
    configs: [{ of: ['leader', 'worker'], pack: { required: RACK } }],
    groups: { leader: { required: RACK } },
  });
  const hidden = anonymizer(Buffer.from('salt'))(trimmed(gang));
  const text = JSON.stringify(hidden);
  expect(text).not.toMatch(/acme|leader|worker|config-0/);
  const spec = hidden['spec'] as {
    readonly [field: string]: readonly { readonly [field: string]: unknown }[];
  };
  expect(spec['topologyConstraintGroupConfigs']?.[0]?.['podGroupNames']).toEqual(
    spec['podgroups']?.map(({ name }) => name),
  );
  expect(snapshotOf([trimmed(gang), high]).snapshot.gangs).toEqual(snapshotOf([gang, high]).snapshot.gangs);
});

/** Small clusters with two levels, and a gang of two groups. */
const pack = fc.record({
  required: fc.constantFrom('', '', ZONE, RACK),
  preferred: fc.constantFrom('', '', ZONE, RACK),
});
const smallCluster = fc.record({
  nodes: fc.array(
    fc.record({ at: fc.constantFrom('a1', 'a2', 'b1', ''), cpu: fc.integer({ min: 0, max: 3 }) }),
    {
      minLength: 1,
      maxLength: 5,
    },
  ),
  running: fc.array(
    fc.record({ on: fc.nat(4), cpu: fc.integer({ min: 1, max: 2 }), prio: fc.constantFrom(0, 10, 200) }),
    {
      maxLength: 5,
    },
  ),
  counts: fc.record({ leader: fc.integer({ min: 1, max: 2 }), worker: fc.integer({ min: 1, max: 3 }) }),
  packs: fc.record({ gang: pack, both: pack, leader: pack, worker: pack }),
});

/** Every choice of a domain for each scope. */
const choicesOf = (scopes: readonly Scope[], { nodes }: Snapshot): DomainChoice[] =>
  scopes.reduce<DomainChoice[]>(
    (choices, scope) => {
      const values = [...new Set(nodes.flatMap(({ labels }) => labels.get(scope.key) ?? []))];
      return choices.flatMap((choice) => values.map((value) => [...choice, { scope, value }]));
    },
    [[]],
  );

const fitsSomehow = (
  preemptor: Preemptor,
  scopes: readonly Scope[],
  snapshot: Snapshot,
  emptied: boolean,
): boolean =>
  choicesOf(scopes, snapshot).some((choice) => {
    const state = new ClusterState(snapshot);
    if (emptied) for (const one of snapshot.pods) if (one.priority < preemptor.priority) state.takeAway(one);
    return place(confined(preemptor, choice), state).fits;
  });

test('feasible if and only if some choice of domains helps, and whoever belongs together is together', () => {
  const seen = { fits: 0, makesRoom: 0, infeasible: 0, kept: 0, left: 0 };
  fc.assert(
    fc.property(smallCluster, ({ nodes, running, counts, packs }) => {
      const gang = gangOf(counts, {
        gang: packs.gang,
        configs: [{ of: ['leader', 'worker'], pack: packs.both }],
        groups: { leader: packs.leader, worker: packs.worker },
      });
      const { snapshot, read } = snapshotOf([
        ...nodes.map(({ at, cpu }, index) =>
          node(`n${index}`, cpu, {}, at === '' ? {} : { labels: { [ZONE]: at.slice(0, 1), [RACK]: at } }),
        ),
        ...running
          .filter(({ on }) => on < nodes.length)
          .map(({ on, cpu, prio }, index) => pod({ name: `r${index}`, on: `n${on}`, cpu, prio })),
        gang,
        high,
      ]);
      const preemptor = preemptorOf(membersOf(counts).map(read), snapshot, 'kep');
      const { required, preferred } = preemptor.topology ?? { required: [], preferred: [] };
      const found = planPreemption(preemptor, snapshot, 'kep');
      // Pods are placed one after the other, so a wish that is kept can help where the same without it finds no place.
      const held = found.domains.filter(({ value }) => value !== undefined).map(({ scope }) => scope);
      for (const [is, emptied] of [
        [found.fits, false],
        [found.feasible, true],
      ] as const)
        expect(is).toBe(fitsSomehow(preemptor, is ? held : required, snapshot, emptied));
      seen[found.fits ? 'fits' : found.feasible ? 'makesRoom' : 'infeasible'] += 1;
      if (!found.feasible) return;

      const labelsOf = new Map(snapshot.nodes.map(({ name, labels }) => [name, labels]));
      for (const { scope, value, required: must } of found.domains) {
        if (must) expect(value).toBeDefined();
        seen[value === undefined ? 'left' : 'kept'] += must ? 0 : 1;
        const there = preemptor.pods
          .filter(({ group }) => scope.groups?.includes(group) ?? true)
          .flatMap(({ key }) => found.placement.get(key) ?? []);
        if (value !== undefined)
          expect(there.every((on) => labelsOf.get(on)?.get(scope.key) === value)).toBe(true);
      }
      // The first wish is kept wherever that alone would fit.
      const [wish] = preferred;
      if (wish !== undefined && fitsSomehow(preemptor, [...required, wish], snapshot, false))
        expect(held).toContain(wish);
      // A wish costs nobody anything.
      const plain = planPreemption({ ...preemptor, topology: { required, preferred: [] } }, snapshot, 'kep');
      const cost = (one: PreemptionPlan) => ({ cost: costOf(one).slice(0, -1) });
      expect(cheaper(cost(plain), cost(found))).toBe(false);
    }),
    { numRuns: searchLength({ short: 250, long: 20_000 }) },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
});
