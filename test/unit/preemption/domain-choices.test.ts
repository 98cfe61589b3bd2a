/** Domains that are searched among their own nodes, and known for groups that are alike, are those of a search without either. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { DomainChoices } from '../../../src/preemption/domain-choices.ts';
import { preemptorOf, type Preemptor } from '../../../src/preemption/preemptor.ts';
import type { Scope, Snapshot } from '../../../src/preemption/snapshot.ts';
import { preemptionUnitsOf } from '../../../src/preemption/units.ts';
import { searchLength } from '../../support/length.ts';
import { PlainDomains, stateWithout } from './plain-domains.ts';
import { node, pod, podGang, priorityClass, snapshotOf } from './small-cluster.ts';

const shape = fc.record({
  cpu: fc.integer({ min: 1, max: 3 }),
  minds: fc.constantFrom('nobody', 'nobody', 'nobody', 'host', 'rack', 'zone a', 'spread'),
});
const group = fc.record({
  /** The second shape is of a single Pod of the group. */
  shapes: fc.constantFrom([0], [0], [1], [1], [0, 1]),
  pods: fc.constantFrom(1, 1, 2, 2, 3),
  surplus: fc.nat(1),
  key: fc.constantFrom('rack', 'rack', 'rack', 'zone', ''),
});
const cluster = fc.record({
  nodes: fc.array(
    fc.record({ at: fc.constantFrom('a1', 'a2', 'b1', ''), cpu: fc.integer({ min: 1, max: 4 }) }),
    { minLength: 4, maxLength: 8 },
  ),
  running: fc.array(
    fc.record({
      on: fc.nat(7),
      cpu: fc.integer({ min: 0, max: 2 }),
      prio: fc.constantFrom(0, 10, 20, 200),
      who: fc.constantFrom('', '', '', '', 'together', 'leaving', 'away', 'member'),
    }),
    { maxLength: 14 },
  ),
  shapes: fc.tuple(shape, shape),
  groups: fc.array(group, { minLength: 2, maxLength: 3 }),
  both: fc.constantFrom('', '', '', 'rack', 'zone'),
  gang: fc.constantFrom('', '', '', 'zone'),
  wish: fc.constantFrom('rack', 'zone'),
});
type Cluster = typeof cluster extends fc.Arbitrary<infer T> ? T : never;

const apart = (topologyKey: string): JsonObject => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey, labelSelector: { matchLabels: { 'grove.io/podgang': 'new' } } },
      ],
    },
  },
});
const specOf = (minds: string): JsonObject => {
  if (minds === 'nobody') return {};
  if (minds === 'zone a') return { nodeSelector: { zone: 'a' } };
  if (minds !== 'spread') return apart(minds);
  const labelSelector = { matchLabels: { 'grove.io/podgang': 'new' } };
  const even = { topologyKey: 'host', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
  return { topologySpreadConstraints: [even] };
};

interface Case {
  readonly preemptor: Preemptor;
  readonly snapshot: Snapshot;
  readonly required: readonly Scope[];
}

function caseOf({ nodes, running, shapes, groups, both, gang }: Cluster): Case {
  const { snapshot, read } = snapshotOf([
    ...nodes.map(({ at, cpu }, index) => {
      const labels = { host: `n${index}`, ...(at === '' ? {} : { zone: at.slice(0, 1), rack: at }) };
      return node(`n${index}`, cpu, {}, { labels });
    }),
    ...running
      .filter(({ on }) => on < nodes.length)
      .map(({ on, cpu, prio, who }, index) =>
        pod({
          ...{ name: `r${index}`, on: `n${on}`, cpu, prio, leaving: who === 'leaving' },
          ...(who === 'together' ? { gang: 'old' } : who === 'member' ? { gang: 'new', group: 'g0' } : {}),
          ...(who === 'away' ? { spec: apart('host') } : {}),
        }),
      ),
    podGang('old', { mode: 'PodGroup', className: 'low' }),
    podGang('new', {
      className: 'high',
      groups: Object.fromEntries(groups.map(({ pods }, at) => [`g${at}`, pods])),
    }),
    ...[priorityClass('low', 10), priorityClass('high', 100)],
  ]);
  const members = groups.flatMap((one, at) =>
    Array.from({ length: one.pods + one.surplus }, (_, index) => {
      const { cpu = 1, minds = 'nobody' } = shapes[one.shapes[index % one.shapes.length] ?? 0] ?? {};
      const name = `g${at}-${index}`;
      return read({ name, cpu, prio: 100, gang: 'new', group: `g${at}`, spec: specOf(minds) });
    }),
  );
  const scope = (key: string, of?: readonly string[]): Scope[] => (key === '' ? [] : [{ groups: of, key }]);
  const each = groups.flatMap(({ key }, at) => scope(key, [`g${at}`]));
  const required = [...scope(gang), ...scope(both, ['g0', 'g1']), ...each];
  return { preemptor: preemptorOf(members, snapshot, 'kep'), snapshot, required };
}

/** One Pod in each group, which somebody has to go for in the second alone, as its Pod is larger. */
const OF_TWO_SIZES: Cluster = {
  nodes: [
    { at: 'a1', cpu: 3 },
    { at: 'b1', cpu: 3 },
  ],
  running: [
    { on: 0, cpu: 2, prio: 10, who: '' },
    { on: 1, cpu: 2, prio: 20, who: '' },
  ],
  shapes: [
    { cpu: 1, minds: 'nobody' },
    { cpu: 2, minds: 'nobody' },
  ],
  groups: [
    { shapes: [0], pods: 1, surplus: 0, key: 'rack' },
    { shapes: [1], pods: 1, surplus: 0, key: 'rack' },
  ],
  ...{ both: '', gang: '', wish: 'zone' },
};

const numRuns = searchLength({ short: 250, long: 20_000 });

test('the choices, their order, who has to go for them and what was left out', () => {
  const seen = { several: 0, one: 0, none: 0, 'too few for all': 0, 'groups alike': 0, 'left out': 0 };
  fc.assert(
    fc.property(cluster, fc.boolean(), fc.constantFrom(1, 2, 16), (given, emptied, most) => {
      const { preemptor, snapshot, required } = caseOf(given);
      const below = preemptionUnitsOf(snapshot, preemptor, 'kep').filter(
        ({ priority }) => priority < preemptor.priority,
      );
      const gone = emptied ? below : undefined;
      const choices = new DomainChoices(preemptor, stateWithout(snapshot, gone), snapshot, gone);
      const plain = new PlainDomains(preemptor, snapshot, gone);
      // One after the other with what is known by then, as a plan asks for them.
      for (const scopes of [required, [...required, { groups: undefined, key: given.wish }]]) {
        // So few that no search ends before its time.
        if (scopes.reduce((all, scope) => all * plain.listed(scope).length, 1) > 32) continue;
        const got = choices.for(scopes, most);
        const { found, left } = plain.for(scopes, most);
        expect(got).toEqual(found);
        for (const [at, scope] of scopes.entries())
          for (const priority of [-Infinity, 0, 10, Infinity]) {
            const kept = left[at]?.filter(({ level }) => level <= priority);
            expect(choices.leftOut(scope, priority)).toBe(kept?.length);
            for (const { value, level } of plain.listed(scope))
              expect(choices.needsAbove([{ scope, value }], priority)).toBe(level > priority);
          }
        seen[got.length > 1 ? 'several' : got.length === 1 ? 'one' : 'none'] += 1;
        if (left.some(({ length }) => length > 0)) seen['left out'] += 1;
        if (got.length === 0 && scopes.every((scope) => plain.listed(scope).length > 0))
          seen['too few for all'] += 1;
      }
      const texts = given.groups.map(({ shapes, pods, key }) => JSON.stringify([shapes, pods, key]));
      if (new Set(texts).size < texts.length) seen['groups alike'] += 1;
    }),
    { numRuns, examples: [[OF_TWO_SIZES, true, 16]] },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(numRuns / 50);
});
