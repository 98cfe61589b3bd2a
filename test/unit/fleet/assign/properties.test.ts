import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { builtInStrategies } from '../../../../src/fleet/assign/strategies.ts';
import { assign } from '../../../../src/fleet/assign/assign.ts';
import { readBinding } from '../../../../src/fleet/assign/binding.ts';
import { searchLength } from '../../../support/length.ts';
import { AGGREGATED, binding, cluster, DYNAMIC, memberOf, read } from './small-fleet.ts';

const RUNS = searchLength({ short: 1_000, long: 20_000 });
const strategies = builtInStrategies();

interface Case {
  readonly strategy: string;
  readonly replicas: number;
  readonly least: number;
  readonly free: readonly number[];
  readonly had: readonly number[];
  readonly barred: readonly boolean[];
  readonly placement: object;
  readonly uid: string;
}

const cases = fc
  .record({
    strategy: fc.constantFrom('default', 'gang-divided', 'gang-no-divided'),
    replicas: fc.integer({ min: 1, max: 40 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    free: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 7 }),
    had: fc.array(fc.constantFrom(0, 0, 0, 3, 9), { maxLength: 7 }),
    barred: fc.array(fc.constantFrom(false, false, false, true), { maxLength: 7 }),
    placement: fc.constantFrom(DYNAMIC, AGGREGATED),
    uid: fc.constantFrom('', 'a', 'b', 'c'),
  })
  .map(({ share, ...rest }): Case => ({ ...rest, least: Math.round(share * rest.replicas) }));

const fleetOf = ({ free, barred }: Case) =>
  free.map((cpu, index) =>
    memberOf(
      cluster(
        `m${index}`,
        { cpu, pods: 1000 },
        barred[index] ? { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } } : {},
      ),
    ),
  );

const bindingIn = (one: Case) => {
  const had = one.had
    .slice(0, one.free.length)
    .flatMap((replicas, index) => (replicas > 0 ? [{ name: `m${index}`, replicas }] : []));
  const object = binding(
    {
      replicas: one.replicas,
      placement: one.placement,
      clusters: had,
      resource: { apiVersion: 'apps/v1', kind: 'Deployment', uid: one.uid },
    },
    {
      annotations: {
        'muster.dev/min-available': String(one.least),
        'muster.dev/custom-scheduling-strategy': one.strategy,
      },
    },
  );
  return read(object, readBinding);
};

test('all replicas of an interval or none, never on a barred cluster, never more than there is room', () => {
  let divided = 0;
  fc.assert(
    fc.property(cases, (one) => {
      const wanted = bindingIn(one);
      const found = assign(wanted, fleetOf(one), strategies);
      const sum = found.clusters.reduce((all, { replicas }) => all + replicas, 0);
      const before = new Map(wanted.clusters.map(({ name, replicas }) => [name, replicas]));
      if (found.reason !== 'Success') {
        expect(found.clusters).toEqual([]);
        expect(found.message).not.toBe('');
      } else {
        expect(sum).toBeLessThanOrEqual(one.replicas);
        expect(sum).toBeGreaterThanOrEqual(
          one.strategy === 'default' ? one.replicas : Math.max(1, one.least),
        );
        if (one.strategy === 'gang-no-divided') expect(found.clusters).toHaveLength(1);
      }
      if (found.clusters.length > 1) divided += 1;
      for (const { name, replicas } of found.clusters) {
        const at = Number(name.slice(1));
        expect(replicas).toBeGreaterThan(0);
        expect(replicas).toBeLessThanOrEqual((one.free[at] ?? 0) + (before.get(name) ?? 0));
        if (one.barred[at]) expect(before.has(name)).toBe(true);
      }
      const named = [...found.clusters, ...found.leftOut].map(({ name }) => name).sort();
      expect(named).toEqual(one.free.map((_, index) => `m${index}`).sort());
    }),
    { numRuns: RUNS },
  );
  expect(divided).toBeGreaterThan(RUNS / 20);
});

test('a second time nothing changes, and the order of the clusters does not matter', () => {
  fc.assert(
    fc.property(cases, (one) => {
      const wanted = bindingIn(one);
      const fleet = fleetOf(one);
      const found = assign(wanted, fleet, strategies);
      expect(assign(wanted, [...fleet].reverse(), strategies)).toEqual(found);
      if (found.reason !== 'Success') return;
      // What was placed is taken from what is free, as the clusters will report it.
      const before = new Map(wanted.clusters.map(({ name, replicas }) => [name, replicas]));
      const after = new Map(found.clusters.map(({ name, replicas }) => [name, replicas]));
      const free = one.free.map(
        (cpu, index) => cpu + (before.get(`m${index}`) ?? 0) - (after.get(`m${index}`) ?? 0),
      );
      const again = assign({ ...wanted, clusters: found.clusters }, fleetOf({ ...one, free }), strategies);
      expect(again.clusters).toEqual(found.clusters);
    }),
    { numRuns: RUNS },
  );
});
