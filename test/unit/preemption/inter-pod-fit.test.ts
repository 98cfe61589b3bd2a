/** Where it matters who is near: counts that are kept, and a fit that is remembered, say what counting and placing anew say. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ClusterState } from '../../../src/preemption/cluster-state.ts';
import { place, undo } from '../../../src/preemption/place.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import { judgeFor, interPodPredicates } from '../../../src/preemption/predicates/predicates.ts';
import { interPodFit } from '../../../src/preemption/inter-pod-fit.ts';
import { preemptionUnitsOf } from '../../../src/preemption/units.ts';
import { putBack, removed } from '../../../src/preemption/search.ts';
import { searchLength } from '../../support/length.ts';
import { clusterOf, gangOf, neighbours } from './random-neighbours.ts';
import { snapshotOf } from './small-cluster.ts';

const moves = fc.array(fc.nat(11), { maxLength: 20 });
/** With few cells most rules are part of what a node is, with many they are asked of each. */
const ways = fc.record({ backsOut: fc.boolean(), mostCells: fc.constantFrom(0, 2, 4, 64) });
const numRuns = searchLength({ short: 1_000, long: 50_000 });

test('what is remembered of where the gang went says whether it fits, whoever comes and goes', () => {
  const seen = { fits: 0, 'does not': 0 };
  fc.assert(
    fc.property(neighbours, moves, ways, (cluster, who, { backsOut, mostCells }) => {
      const { snapshot, read } = snapshotOf(clusterOf(cluster));
      const preemptor = preemptorOf(gangOf(cluster).map(read), snapshot, 'kube-1.36');
      const state = new ClusterState(snapshot);
      const units = preemptionUnitsOf(snapshot, preemptor, 'kube-1.36');
      for (const unit of units) removed(unit, state);
      const fit = interPodFit(preemptor, state, state.nodes, mostCells);
      const gone = new Set(units);
      const placedAnew = (): boolean => {
        const placement = place(preemptor, state);
        undo(placement, state);
        return placement.fits;
      };
      for (const move of [-1, ...who]) {
        const unit = units[move];
        const isBack = unit !== undefined && gone.has(unit);
        if (unit !== undefined) {
          (isBack ? putBack : removed)(unit, state, fit);
          if (!gone.delete(unit)) gone.add(unit);
        }
        const fits = placedAnew();
        expect(fit.fits()).toBe(fits);
        seen[fits ? 'fits' : 'does not'] += 1;
        // As the search for victims does with one that cannot stay.
        if (fits || unit === undefined || !isBack || !backsOut) continue;
        const before = new ClusterState(snapshot);
        for (const one of [...gone, unit]) removed(one, before);
        removed(unit, state, fit);
        gone.add(unit);
        if (place(preemptor, before).fits) fit.backOut();
      }
    }),
    { numRuns },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(numRuns / 2);
});

test('counts that are kept as Pods come and go judge every node as counts of a new state do', () => {
  let refused = 0;
  fc.assert(
    fc.property(neighbours, moves, (cluster, who) => {
      const { snapshot, read } = snapshotOf(clusterOf(cluster));
      const gang = gangOf(cluster).map(read);
      const state = new ClusterState(snapshot);
      const there = new Set(snapshot.pods);
      const judged = (by: ClusterState): unknown =>
        gang.map((pod) => by.nodes.map(judgeFor(pod, by, interPodPredicates)));
      for (const at of [-1, ...who]) {
        const pod = snapshot.pods[at];
        if (pod !== undefined) {
          if (there.delete(pod)) state.takeAway(pod);
          else {
            state.putBack(pod);
            there.add(pod);
          }
        }
        const anew = new ClusterState({ ...snapshot, pods: [...there] });
        const [said, plainly] = [judged(state), judged(anew)];
        expect(said).toEqual(plainly);
        refused += JSON.stringify(plainly).includes('messages') ? 1 : 0;
      }
    }),
    { numRuns: numRuns / 4 },
  );
  expect(refused).toBeGreaterThan(numRuns / 4);
});
