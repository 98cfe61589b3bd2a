import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { PREEMPTION } from '../../../src/api/preemption-terms.ts';
import { overdrawnBy } from '../../../src/preemption/budgets.ts';
import { ClusterState } from '../../../src/preemption/cluster-state.ts';
import { nextPreemptionStep, type PreemptionStep } from '../../../src/preemption/preemption-state-machine.ts';
import type { InFlight } from '../../../src/preemption/in-flight.ts';
import type { Situation } from '../../../src/preemption/plan-within-budgets.ts';
import { place } from '../../../src/preemption/place.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import { readSnapshotPod } from '../../../src/preemption/read/read-pod.ts';
import { readSnapshot } from '../../../src/preemption/read/read-snapshot.ts';
import { FieldReader } from '../../../src/k8s/field-reader.ts';
import type { Pod, Snapshot } from '../../../src/preemption/snapshot.ts';
import { preemptionUnitsOf, type PreemptionUnit } from '../../../src/preemption/units.ts';
import { searchLength } from '../../support/length.ts';
import { budget, node, pod, podGang, priorityClass, type PodIn } from './small-cluster.ts';

const PRIORITIES = [10, 20, 30, 50] as const;
const GANGS = ['g0', 'g1'] as const;
/** Of the preemptor. */
const OWN = 30;

/** What may happen to a cluster between two attempts. */
type Event =
  /** The controller gets so far with what it was told: so many Pods marked, so many evicted. Then it is killed. */
  | { readonly what: 'act'; readonly marks: number; readonly evictions: number }
  | { readonly what: 'gone'; readonly at: number }
  | { readonly what: 'arrives'; readonly on: number; readonly cpu: number; readonly prio: number }
  | { readonly what: 'ends'; readonly at: number }
  | { readonly what: 'costs'; readonly gang: number; readonly prio: number }
  | { readonly what: 'never' }
  | { readonly what: 'budget'; readonly allowed: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constant('act' as const), marks: fc.nat(5), evictions: fc.nat(5) }),
  },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('gone' as const), at: fc.nat(9) }) },
  fc.record({
    what: fc.constant('arrives' as const),
    on: fc.nat(2),
    cpu: fc.integer({ min: 1, max: 3 }),
    prio: fc.constantFrom(...PRIORITIES),
  }),
  fc.record({ what: fc.constant('ends' as const), at: fc.nat(9) }),
  fc.record({
    what: fc.constant('costs' as const),
    gang: fc.nat(1),
    prio: fc.constantFrom(...PRIORITIES),
  }),
  fc.record({ what: fc.constant('never' as const) }),
  fc.record({ what: fc.constant('budget' as const), allowed: fc.nat(2) }),
);

const history = fc.record({
  nodes: fc.array(fc.integer({ min: 2, max: 4 }), { minLength: 1, maxLength: 3 }),
  running: fc.array(
    fc.record({
      on: fc.nat(2),
      cpu: fc.integer({ min: 1, max: 2 }),
      prio: fc.constantFrom(10, 10, 20, 50),
      gang: fc.constantFrom('', '', ...GANGS),
      app: fc.boolean(),
    }),
    { minLength: 3, maxLength: 7 },
  ),
  together: fc.tuple(fc.boolean(), fc.boolean()),
  costs: fc.tuple(fc.constantFrom(...PRIORITIES), fc.constantFrom(...PRIORITIES)),
  allowed: fc.nat(2),
  wanting: fc.record({ pods: fc.constantFrom(1, 2, 2, 3), cpu: fc.constantFrom(1, 2, 2, 3) }),
  breaksBudgets: fc.boolean(),
  events: fc.array(event, { maxLength: 12 }),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/** A cluster that changes, and the controller that acts on it. */
class World {
  readonly nodes: readonly JsonObject[];
  readonly pods = new Map<string, PodIn>();
  readonly together: readonly boolean[];
  readonly costs: number[];
  readonly wanting: History['wanting'];
  readonly breaksBudgets: boolean;
  allowed: number;
  never = false;
  #arrived = 0;

  constructor({ nodes, running, together, costs, allowed, wanting, breaksBudgets }: History) {
    this.nodes = nodes.map((cpu, index) => node(`n${index}`, cpu));
    for (const [index, { on, cpu, prio, gang, app }] of running.entries())
      this.run({
        name: `r${index}`,
        on: `n${on % nodes.length}`,
        cpu,
        prio: gang === '' ? prio : 10,
        ...(gang === '' ? {} : { gang }),
        ...(app ? { labels: { app: 'a' } } : {}),
      });
    this.together = together;
    this.costs = [...costs];
    this.allowed = allowed;
    this.wanting = wanting;
    this.breaksBudgets = breaksBudgets;
  }

  run(one: PodIn): void {
    this.pods.set(one.name, one);
  }

  happens(event: Exclude<Event, { what: 'act' }>): void {
    const at = (index: number): string | undefined => [...this.pods.keys()][index];
    if (event.what === 'gone') {
      const name = at(event.at);
      if (name !== undefined && this.pods.get(name)?.leaving === true) this.pods.delete(name);
    } else if (event.what === 'ends') {
      const name = at(event.at);
      // One that runs may end by itself; whoever was told to go is not among them here, for it counts below.
      if (name !== undefined && this.pods.get(name)?.told === undefined) this.pods.delete(name);
    } else if (event.what === 'arrives') {
      this.#arrived += 1;
      const on = `n${event.on % this.nodes.length}`;
      this.run({ name: `new${this.#arrived}`, on, cpu: event.cpu, prio: event.prio });
    } else if (event.what === 'costs') this.costs[event.gang] = event.prio;
    else if (event.what === 'budget') this.allowed = event.allowed;
    else this.never = true;
  }

  situation(): Situation {
    const objects = [
      ...this.nodes,
      ...PRIORITIES.map((value) => priorityClass(`c${value}`, value)),
      ...GANGS.map((name, index) =>
        podGang(name, {
          className: 'c10',
          mode: this.together[index] === true ? 'PodGroup' : 'Pod',
          cost: `c${this.costs[index] ?? 10}`,
        }),
      ),
      podGang('want', {
        className: `c${OWN}`,
        groups: { worker: this.wanting.pods },
        ...(this.never ? { annotations: { 'muster.dev/preemption-policy': 'Never' } } : {}),
      }),
      budget('a', this.allowed),
      ...[...this.pods.values()].map(pod),
    ];
    const { snapshot, faults, context } = readSnapshot(objects);
    expect(faults).toEqual([]);
    const pods = Array.from({ length: this.wanting.pods }, (_, index) =>
      readSnapshotPod(
        pod({ name: `w${index}`, cpu: this.wanting.cpu, prio: OWN, gang: 'want' }),
        context,
        new FieldReader('w'),
      ),
    );
    const { breaksBudgets } = this;
    const preemptor = preemptorOf(pods, snapshot, 'kep');
    return { preemptor, snapshot, variant: 'kep', mayGo: () => true, breaksBudgets };
  }

  /** Unit by unit: all marks of one, then its evictions. */
  act({ evict }: PreemptionStep, marks: number, evictions: number): string[] {
    const done: string[] = [];
    for (const { pods } of evict) {
      for (const { name } of pods) {
        if (marks === 0) return done;
        marks -= 1;
        this.pods.set(name, { ...(this.pods.get(name) as PodIn), told: PREEMPTION });
        done.push(name);
      }
      for (const { name } of pods) {
        if (evictions === 0) return done;
        evictions -= 1;
        this.pods.set(name, { ...(this.pods.get(name) as PodIn), told: PREEMPTION, leaving: true });
      }
    }
    return done;
  }
}

const subsets = <T>(all: readonly T[]): T[][] =>
  all.reduce<T[][]>((sets, one) => [...sets, ...sets.map((set) => [...set, one])], [[]]);

function fitsWithout({ preemptor, snapshot }: Situation, gone: Iterable<Pod>): boolean {
  const state = new ClusterState(snapshot);
  for (const one of snapshot.pods) if (one.terminating) state.takeAway(one);
  for (const one of gone) state.takeAway(one);
  return place(preemptor, state).fits;
}

const byUid = ({ pods }: Snapshot, { victims }: InFlight): Pod[] => {
  const uids = new Set(victims.flatMap((victim) => victim.pods.map(({ uid }) => uid)));
  return pods.filter(({ uid }) => uids.has(uid));
};

const numRuns = searchLength({ short: 500, long: 20_000 });

test('whatever happens between two attempts, and wherever the controller is killed', () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(history, (given) => {
      const world = new World(given);
      let inFlight: InFlight | undefined;
      /** Pods that were told and are still there. */
      const going = new Set<string>();
      const units = new Map<string, readonly string[]>();
      const next = (): PreemptionStep => {
        const situation = world.situation();
        const step = nextPreemptionStep(inFlight, situation);
        seen.set(step.verdict, (seen.get(step.verdict) ?? 0) + 1);
        if (inFlight !== undefined && step.inFlight?.closing === true && !inFlight.closing)
          seen.set('given up', (seen.get('given up') ?? 0) + 1);
        check(situation, inFlight, step, going);
        for (const { name, pods } of step.inFlight?.victims ?? [])
          units.set(
            name,
            pods.map((one) => one.name),
          );
        ({ inFlight } = step);
        return step;
      };
      const forget = (): void => {
        for (const name of going) if (!world.pods.has(name)) going.delete(name);
      };
      for (const happens of given.events) {
        if (happens.what === 'act') {
          for (const name of world.act(next(), happens.marks, happens.evictions)) going.add(name);
        } else world.happens(happens);
        forget();
      }
      // Nothing happens any more but what was told: of no unit is a part left over.
      for (let round = 0; round < 5; round += 1) {
        for (const name of world.act(next(), 99, 99)) going.add(name);
        for (const [name, one] of world.pods) if (one.leaving === true) world.pods.delete(name);
        forget();
      }
      expect(going).toEqual(new Set());
    }),
    { numRuns },
  );
  // A generator that never comes so far would show nothing.
  for (const what of ['Fits', 'Preempts', 'Waits', 'Unschedulable', 'given up'])
    expect([what, (seen.get(what) ?? 0) > 0]).toEqual([what, true]);
});

function check(
  situation: Situation,
  before: InFlight | undefined,
  step: PreemptionStep,
  going: ReadonlySet<string>,
): void {
  const { preemptor, snapshot, breaksBudgets } = situation;
  const below = preemptionUnitsOf(snapshot, preemptor, 'kep').filter(
    ({ priority }) => priority < preemptor.priority,
  );

  // The same again says the same.
  const again = nextPreemptionStep(step.inFlight, situation);
  expect(again.inFlight).toEqual(step.inFlight);
  if (step.inFlight !== undefined) expect(again.evict).toEqual(step.evict);

  if (step.verdict === 'Preempts') {
    // Not while any of an earlier set is on its way, and not before there is a place for all of it.
    expect([...going]).toEqual([]);
    expect(step.inFlight?.nominations).toHaveLength(preemptor.pods.length);
    const chosen = unitsIn(step, below);
    expect(chosen).toHaveLength(step.evict.length);
    expect(
      fitsWithout(
        situation,
        chosen.flatMap(({ pods }) => pods),
      ),
    ).toBe(true);
    expect(fitsWithout(situation, [])).toBe(false);
    if (overdrawnBy(chosen, snapshot.budgets) !== undefined) {
      expect(breaksBudgets).toBe(true);
      const kept = subsets(below).filter((set) => overdrawnBy(set, snapshot.budgets) === undefined);
      expect(
        kept.some((set) =>
          fitsWithout(
            situation,
            set.flatMap(({ pods }) => pods),
          ),
        ),
      ).toBe(false);
    }
  }
  // Whoever is told anew is strictly below, and whole.
  for (const victim of step.evict) {
    if (victim.pods.some(({ name }) => going.has(name))) continue;
    const unit = below.find(({ kind, name }) => kind === victim.kind && name === victim.name);
    expect(unit?.priority ?? Infinity).toBeLessThan(preemptor.priority);
    expect(victim.pods.length).toBeLessThanOrEqual(unit?.pods.length ?? 0);
  }
  // A plan that is pursued is one that may still come true.
  if (before !== undefined && step.verdict === 'Waits' && step.inFlight?.closing === false) {
    expect(step.inFlight).toBe(before);
    expect(fitsWithout(situation, byUid(snapshot, before))).toBe(true);
    expect(preemptor.preempts).toBe(true);
  }
  // Given up: whatever was not begun is let alone.
  if (step.inFlight?.closing === true)
    for (const { pods } of step.inFlight.victims) expect(pods.some(({ name }) => going.has(name))).toBe(true);
}

const unitsIn = ({ evict }: PreemptionStep, below: readonly PreemptionUnit[]): PreemptionUnit[] =>
  below.filter(({ kind, name }) => evict.some((one) => one.kind === kind && one.name === name));
