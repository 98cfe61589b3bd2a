// One size of cluster, in a process of its own: `node --expose-gc one-size.ts NODES VARIANT SHAPES ROUNDS NEAR` prints JSON.
import { planPreemption } from '../../src/preemption/plan.ts';
import { planWithinBudgets } from '../../src/preemption/plan-within-budgets.ts';
import { preemptorOf } from '../../src/preemption/preemptor.ts';
import { readSnapshotPod } from '../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../src/preemption/read/read-snapshot.ts';
import { FieldReader } from '../../src/k8s/field-reader.ts';
import type { Variant } from '../../src/preemption/variants.ts';
import { memberOf, membersIn, mindingOf, objectsOf, type Near } from './made-cluster.ts';

/** What one size costs. */
export interface SizeCost {
  readonly milliseconds: readonly number[];
  /** What the process took of its processors meanwhile, which says the same on a machine that has other things to do. */
  readonly cpuMilliseconds: readonly number[];
  /** The most that the heap held beyond the snapshot. */
  readonly mib: number;
  readonly victims: number;
}

function measure(nodes: number, variant: Variant, shapes: number, rounds: number, near: Near): SizeCost {
  const minding = mindingOf(near);
  const members = membersIn(nodes, minding);
  const { snapshot, context, faults } = readSnapshot(objectsOf(nodes, members, minding));
  if (faults.length > 0) throw new Error(JSON.stringify(faults[0]));
  const pods = Array.from({ length: members }, (_, index) =>
    readSnapshotPod(memberOf(index, index % shapes, minding), context, new FieldReader('Pod')),
  );
  const preemptor = preemptorOf(pods, snapshot, variant);
  const milliseconds: number[] = [];
  const cpuMilliseconds: number[] = [];
  let [most, victims] = [0, 0];
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('start it with --expose-gc');
  for (let round = 0; round <= rounds; round += 1) {
    collect();
    const before = process.memoryUsage().heapUsed;
    const since = performance.now();
    const cpuBefore = process.cpuUsage();
    const found = minding.keepsBudgets
      ? planWithinBudgets({ preemptor, snapshot, variant, mayGo: () => true })
      : planPreemption(preemptor, snapshot, variant);
    // The first time everything is compiled; people wait for that once.
    if (round > 0) {
      milliseconds.push(performance.now() - since);
      const { user, system } = process.cpuUsage(cpuBefore);
      cpuMilliseconds.push((user + system) / 1000);
    }
    most = Math.max(most, process.memoryUsage().heapUsed - before);
    if (!found.feasible) throw new Error(`${nodes} nodes: the gang does not fit`);
    victims = found.victims.length;
  }
  return { milliseconds, cpuMilliseconds, mib: most / 2 ** 20, victims };
}

const [nodes = '', variant = '', shapes = '', rounds = '', near = 'nobody'] = process.argv.slice(2);
process.stdout.write(
  JSON.stringify(measure(Number(nodes), variant as Variant, Number(shapes), Number(rounds), near as Near)),
);
