/** kube-1.37 beside whoever minds whom: what is looked at again gives the victims that looking at everything gives. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { splitByBudgets } from '../../../src/preemption/budgets.ts';
import { ClusterState } from '../../../src/preemption/cluster-state.ts';
import { place, undo } from '../../../src/preemption/place.ts';
import { planPreemption } from '../../../src/preemption/plan.ts';
import {
  judgeFor,
  predicatesButAffinity,
  skipsAffinity,
} from '../../../src/preemption/predicates/predicates.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import type { Pod } from '../../../src/preemption/snapshot.ts';
import { byImportance, preemptionUnitsOf, type PreemptionUnit } from '../../../src/preemption/units.ts';
import { putBack, removed } from '../../../src/preemption/search.ts';
import { searchLength } from '../../support/length.ts';
import { clusterOf, gangOf, neighbours, type Neighbours } from './random-neighbours.ts';
import { snapshotOf } from './small-cluster.ts';

const VARIANT = 'kube-1.37';
const numRuns = searchLength({ short: 1_000, long: 50_000 });

/** Everybody who runs may be evicted, and wants none of the gang near: then more of the evictions are in vain. */
const averse = (cluster: Neighbours): Neighbours => ({
  ...cluster,
  nodes: cluster.nodes.map((one) => ({ ...one, zone: one.zone || 'a', taint: '' })),
  running: cluster.running.map((one) => ({
    ...one,
    prio: one.prio === 100 ? 10 : one.prio,
    leaving: false,
    away: one.away || 'rack',
  })),
});
const clusters = fc.oneof(neighbours, { arbitrary: neighbours.map(averse), weight: 3 });

test('each unit is judged as if the whole gang had been placed Pod by Pod beside it', () => {
  const seen = { fits: 0, never: 0, preempts: 0, 'in vain': 0 };
  fc.assert(
    fc.property(clusters, (cluster) => {
      const { snapshot, read } = snapshotOf(clusterOf(cluster));
      const preemptor = preemptorOf(gangOf(cluster).map(read), snapshot, VARIANT);
      const planned = planPreemption(preemptor, snapshot, VARIANT);
      const inVain = planned.refusal?.why === 'EvictsInVain';
      const kind = planned.fits ? 'fits' : inVain ? 'in vain' : planned.feasible ? 'preempts' : 'never';
      seen[kind] += 1;
      if (kind === 'fits' || kind === 'never') return;
      const state = new ClusterState(snapshot);
      const below = preemptionUnitsOf(snapshot, preemptor, VARIANT).filter(
        ({ priority }) => priority < preemptor.priority,
      );
      const ordered = below.sort(byImportance);
      for (const unit of ordered) removed(unit, state);
      const placement = place(preemptor, state);
      undo(placement, state);
      /** Puts the gang where it was, Pod by Pod, and takes it off again. */
      const throughout = (allows: (pod: Pod, on: string) => boolean): boolean => {
        let stays = true;
        for (const [pod, node] of placement.nodes) {
          stays &&= allows(pod, node.node.name);
          state.put(pod, node);
        }
        undo(placement, state);
        return stays;
      };
      const deaf = new Set<Pod>();
      throughout((pod) => {
        if (skipsAffinity(pod, state)) deaf.add(pod);
        return true;
      });
      const judges = (pod: Pod, on: string): boolean => {
        const node = state.byName.get(on);
        const list = deaf.has(pod) ? predicatesButAffinity : undefined;
        return node !== undefined && judgeFor(pod, state, list)(node) === undefined;
      };
      const { violating, others } = splitByBudgets(ordered, snapshot.budgets, 'Pod');
      const victims: PreemptionUnit[] = [];
      for (const unit of [...violating.keys(), ...others]) {
        putBack(unit, state);
        if (throughout(judges)) continue;
        removed(unit, state);
        victims.push(unit);
      }
      const names = (units: readonly PreemptionUnit[]): string[] => units.map(({ name }) => name).sort();
      expect(names(planned.victims.map(({ unit }) => unit))).toEqual(names(victims));
      if (inVain) expect(place(preemptor, state).fits).toBe(false);
    }),
    { numRuns },
  );
  // A generator that only makes one kind of answer would show nothing.
  expect(Math.min(seen.preempts, seen['in vain'])).toBeGreaterThan(numRuns / 100);
});
