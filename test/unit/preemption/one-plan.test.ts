/** What everybody is told of a plan is what is carried out. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FieldReader } from '../../../src/k8s/field-reader.ts';
import { overdrawnBy } from '../../../src/preemption/budgets.ts';
import { nextPreemptionStep } from '../../../src/preemption/preemption-state-machine.ts';
import { plannerFor, planPreemption } from '../../../src/preemption/plan.ts';
import { planWithinBudgets, sparing } from '../../../src/preemption/plan-within-budgets.ts';
import type { PreemptionPlan } from '../../../src/preemption/search.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import { readSnapshotPod } from '../../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../../src/preemption/read/read-snapshot.ts';
import type { PreemptionUnit } from '../../../src/preemption/units.ts';
import { VARIANTS } from '../../../src/preemption/variants.ts';
import { searchLength } from '../../support/length.ts';
import { objectsOf, smallCluster } from './random-clusters.ts';
import { clusterOf, gangOf, neighbours } from './random-neighbours.ts';
import { budget, node, pod, podGang, priorityClass, snapshotOf } from './small-cluster.ts';

const names = ({ victims }: PreemptionPlan): string[] =>
  victims.map(({ unit: { kind, name } }) => `${kind} ${name}`);

test('the plan that is shown names those whom the first step evicts', () => {
  const seen = { same: 0, overdrawn: 0 };
  fc.assert(
    fc.property(smallCluster, (small) => {
      const { wanting } = small;
      const { snapshot, context } = readSnapshot([
        ...objectsOf(small),
        priorityClass('c', wanting.prio),
        podGang('want', { className: 'c', groups: { worker: Math.min(wanting.min, wanting.pods) } }),
      ]);
      const pods = Array.from({ length: wanting.pods }, (_, index) => {
        const given = { name: `w${index}`, cpu: wanting.cpu, prio: wanting.prio, gang: 'want' };
        return readSnapshotPod(pod(given), context, new FieldReader('w'));
      });
      const preemptor = preemptorOf(pods, snapshot, 'kep');
      const mayGo = sparing([], () => true);
      const shown = planWithinBudgets({ preemptor, snapshot, variant: 'kep', mayGo });
      const step = nextPreemptionStep(undefined, {
        preemptor,
        snapshot,
        variant: 'kep',
        mayGo,
        breaksBudgets: false,
      });
      const over = overdrawnBy(
        shown.victims.map(({ unit }) => unit),
        snapshot.budgets,
      );
      if (over === undefined) {
        expect(step.evict.map(({ kind, name }) => `${kind} ${name}`)).toEqual(names(shown));
        if (shown.victims.length > 0) seen.same += 1;
      } else {
        expect(step).toMatchObject({ verdict: 'Unschedulable', evict: [] });
        seen.overdrawn += 1;
      }
    }),
    { numRuns: searchLength({ short: 1_500, long: 10_000 }) },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
});

test('a plan that shares the work of earlier ones is the plan made anew', () => {
  const seen = { feasible: 0, infeasible: 0 };
  const keeping = fc.array(fc.array(fc.nat(7), { maxLength: 4 }), { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(neighbours, fc.constantFrom(...VARIANTS), keeping, (cluster, variant, tries) => {
      const { snapshot, read } = snapshotOf([...clusterOf(cluster), budget('gang', 1), budget('other', 0)]);
      const preemptor = preemptorOf(gangOf(cluster).map(read), snapshot, variant);
      const plan = plannerFor(preemptor, snapshot, variant);
      for (const indexes of tries) {
        const kept = new Set(indexes.flatMap((index) => snapshot.pods[index] ?? []));
        const mayGo = ({ pods }: PreemptionUnit): boolean => !pods.some((one) => kept.has(one));
        const found = plan(kept);
        expect(found).toEqual(planPreemption(preemptor, snapshot, variant, mayGo));
        seen[found.feasible ? 'feasible' : 'infeasible'] += 1;
      }
    }),
    { numRuns: searchLength({ short: 1_000, long: 20_000 }) },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(100);
});

describe('a budget is kept where another unit can go', () => {
  const plan = (objects: Parameters<typeof snapshotOf>[0]): PreemptionPlan => {
    const { snapshot, read } = snapshotOf(objects);
    const preemptor = preemptorOf([read({ name: 'w', cpu: 1, prio: 100, gang: 'g' })], snapshot, 'kep');
    return planWithinBudgets({ preemptor, snapshot, variant: 'kep', mayGo: sparing(['kept'], () => true) });
  };
  const cluster = [
    ...[node('a', 1), node('b', 1), priorityClass('high', 100), podGang('g', { className: 'high' })],
    pod({ name: 'x', on: 'a', cpu: 1, prio: 10, labels: { app: 'guarded' } }),
    budget('guarded', 0),
  ];

  test('of equal priority, and the other is told why it may stay', () => {
    const found = plan([...cluster, pod({ name: 'y', on: 'b', cpu: 1, prio: 10 })]);
    expect(names(found)).toEqual(['Pod y']);
    expect(found.reprieved.map(({ unit, why, violatesBudget }) => [unit.name, why, violatesBudget])).toEqual([
      ['x', 'PodDisruptionBudget ns/guarded is kept, and others can go', false],
    ]);
  });

  test('of many victims as many stay as overdraw it, in a cluster too large for a plan each', () => {
    const nodes = Array.from({ length: 3_000 }, (_, index) => `n${String(index).padStart(4, '0')}`);
    // Two of the 60 guarded Pods may go; the others run where the gang would go first, by name.
    const objects = nodes.flatMap((name, index) => [
      node(name, 1),
      pod({
        name: `on-${name}`,
        on: name,
        cpu: 1,
        prio: 10,
        labels: { app: index < 60 ? 'guarded' : 'free' },
      }),
    ]);
    const groups = { worker: 40 };
    const { snapshot, read } = snapshotOf([
      ...objects,
      ...[priorityClass('high', 100), podGang('g', { className: 'high', groups }), budget('guarded', 2)],
    ]);
    const pods = Array.from({ length: 40 }, (_, index) =>
      read({ name: `w-${index}`, cpu: 1, prio: 100, gang: 'g' }),
    );
    const preemptor = preemptorOf(pods, snapshot, 'kep');
    const found = planWithinBudgets({ preemptor, snapshot, variant: 'kep', mayGo: () => true });
    const victims = found.victims.map(({ unit }) => unit);
    expect(victims).toHaveLength(40);
    expect(overdrawnBy(victims, snapshot.budgets)).toBeUndefined();
  });

  test('and is broken where nobody else may go', () => {
    const found = plan([...cluster, pod({ name: 'y', namespace: 'kept', on: 'b', cpu: 1, prio: 10 })]);
    expect(names(found)).toEqual(['Pod x']);
  });
});
