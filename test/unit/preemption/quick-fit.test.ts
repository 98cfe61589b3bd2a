/** The quick way to know whether a gang fits says what placing it says, whoever comes and goes between. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ClusterState } from '../../../src/preemption/cluster-state.ts';
import { fitOf, isPlain } from '../../../src/preemption/fit.ts';
import { place, undo } from '../../../src/preemption/place.ts';
import { preemptorOf } from '../../../src/preemption/preemptor-of.ts';
import { unitsOf } from '../../../src/preemption/units.ts';
import { putBack, removed } from '../../../src/preemption/verdicts.ts';
import { inLength } from '../../support/length.ts';
import { node, pod, podGroup, snapshotOf, type PodIn } from './small-cluster.ts';

const running = fc.record({
  on: fc.nat(3),
  cpu: fc.integer({ min: 0, max: 3 }),
  port: fc.constantFrom(0, 0, 80),
  group: fc.constantFrom('', '', 'g1', 'g2'),
});
const cluster = fc.record({
  nodes: fc.array(
    fc.record({
      cpu: fc.integer({ min: 1, max: 5 }),
      pods: fc.integer({ min: 1, max: 4 }),
      cordoned: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  running: fc.array(running, { maxLength: 9 }),
  wanting: fc.record({
    cpu: fc.nat(3),
    port: fc.constantFrom(0, 0, 80),
    pods: fc.integer({ min: 1, max: 5 }),
  }),
  min: fc.integer({ min: 1, max: 5 }),
  /** Who is taken off, or put back where he is not there. */
  moves: fc.array(fc.nat(8), { maxLength: 12 }),
});

const withPort = (port: number): Pick<PodIn, 'spec'> =>
  port === 0 ? {} : { spec: { containers: [{ name: 'c', ports: [{ hostPort: port }] }] } };

test('a gang of Pods that are alike and mind nobody', () => {
  let fitting = 0;
  let runs = 0;
  fc.assert(
    fc.property(cluster, ({ nodes, running: there, wanting, min, moves }) => {
      const { snapshot, read } = snapshotOf([
        ...nodes.map(({ cpu, pods, cordoned }, index) =>
          node(`n${index}`, cpu, { pods: String(pods) }, { spec: { unschedulable: cordoned && index > 0 } }),
        ),
        ...there
          .filter(({ on }) => on < nodes.length)
          .map(({ on, cpu, port, group }, index) =>
            pod({
              ...{ name: `r${index}`, on: `n${on}`, cpu, prio: 0, ...withPort(port) },
              ...(group === '' ? {} : { podGroup: group }),
            }),
          ),
        podGroup('g1', { prio: 0, mode: 'PodGroup' }),
        podGroup('g2', { prio: 0, mode: 'PodGroup' }),
        podGroup('p', { prio: 50, min: Math.min(min, wanting.pods) }),
      ]);
      const pods = Array.from({ length: wanting.pods }, (_, index) =>
        read({ name: `w${index}`, cpu: wanting.cpu, prio: 50, podGroup: 'p', ...withPort(wanting.port) }),
      );
      const preemptor = preemptorOf(pods, snapshot, 'kube-1.36');
      const state = new ClusterState(snapshot);
      expect(isPlain(preemptor, state)).toBe(true);
      const fit = fitOf(preemptor, state);
      const units = unitsOf(snapshot, preemptor, 'kube-1.36');
      const gone = new Set<number>();
      for (const move of [-1, ...moves]) {
        const unit = units[move];
        if (unit !== undefined) {
          (gone.has(move) ? putBack : removed)(unit, state, fit);
          if (!gone.delete(move)) gone.add(move);
        }
        const placement = place(preemptor, state);
        undo(placement, state);
        runs += 1;
        if (placement.fits) fitting += 1;
        expect(fit.fits()).toBe(placement.fits);
      }
    }),
    { numRuns: inLength({ short: 500, long: 20_000 }) },
  );
  expect(fitting).toBeGreaterThan(0);
  expect(fitting).toBeLessThan(runs);
});
