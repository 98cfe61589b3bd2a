/** Counting how many Pods each domain takes says what placing them one after the other says. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ClusterState } from '../../../src/preemption/cluster-state.ts';
import { interPodFit, kindsMinding } from '../../../src/preemption/inter-pod-fit.ts';
import { LimitedFit } from '../../../src/preemption/limited-fit.ts';
import { place, undo } from '../../../src/preemption/place.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import { preemptionUnitsOf } from '../../../src/preemption/units.ts';
import { putBack, removed } from '../../../src/preemption/search.ts';
import { searchLength } from '../../support/length.ts';
import { clusterOf, gangOf, neighbours, type Neighbours } from './random-neighbours.ts';
import { snapshotOf } from './small-cluster.ts';

const moves = fc.array(fc.nat(11), { maxLength: 20 });
const more = fc.record({ nested: fc.boolean(), pods: fc.integer({ min: 1, max: 9 }), all: fc.boolean() });
const numRuns = searchLength({ short: 600, long: 50_000 });

/** A gang of one kind, which may be larger than there are nodes, and racks inside of zones. */
function ofOneKind(
  cluster: Neighbours,
  { nested, pods, all }: typeof more extends fc.Arbitrary<infer T> ? T : never,
): Neighbours {
  const { nodes, shapes, min } = cluster;
  return {
    ...cluster,
    nodes: nodes.map((one) => (nested ? { ...one, rack: `${one.zone}${one.rack}` } : one)),
    shapes: shapes.slice(0, 1),
    pods,
    min: all ? pods : min,
  };
}

test('a gang of one kind, whoever comes and goes', () => {
  const seen = { 'fits by count': 0, 'does not by count': 0, 'asks otherwise': 0, 'counts nothing': 0 };
  fc.assert(
    fc.property(neighbours, more, moves, (given, changes, who) => {
      const cluster = ofOneKind(given, changes);
      const { snapshot, read } = snapshotOf(clusterOf(cluster));
      const preemptor = preemptorOf(gangOf(cluster).map(read), snapshot, 'kube-1.36');
      const state = new ClusterState(snapshot);
      expect(kindsMinding(preemptor.pods, state)).toHaveLength(1);
      const units = preemptionUnitsOf(snapshot, preemptor, 'kube-1.36');
      for (const unit of units) removed(unit, state);
      const gone = new Set(units);
      let asked: boolean;
      const fit = LimitedFit.of(preemptor, {
        ...{ state, nodes: state.nodes },
        otherwise: () => {
          const other = interPodFit(preemptor, state, state.nodes);
          return {
            changed: (node) => void other.changed(node),
            fits: () => {
              asked = true;
              return other.fits();
            },
          };
        },
      });
      if (fit === undefined) {
        seen['counts nothing'] += 1;
        return;
      }
      for (const move of [-1, ...who]) {
        const unit = units[move];
        if (unit !== undefined) {
          (gone.has(unit) ? putBack : removed)(unit, state, fit);
          if (!gone.delete(unit)) gone.add(unit);
        }
        const placement = place(preemptor, state);
        undo(placement, state);
        asked = false;
        expect(fit.fits()).toBe(placement.fits);
        seen[asked ? 'asks otherwise' : placement.fits ? 'fits by count' : 'does not by count'] += 1;
      }
    }),
    { numRuns },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(numRuns / 60);
});
