/** Gangs whose Pods need the same value of a node label. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { paletteFor } from '../../../src/cli/output/palette.ts';
import { planObject, planText } from '../../../src/cli/plan/render-plan.ts';
import { anonymizer } from '../../../src/cli/snapshot/anonymous.ts';
import type { PlanOutcome } from '../../../src/preemption/outcome.ts';
import { trimmed } from '../../../src/preemption/read/trim.ts';
import { planInDomains } from '../../../src/preemption/plan-in-domains.ts';
import { cheaper, costOf } from '../../../src/preemption/plan-pod.ts';
import { planPreemption } from '../../../src/preemption/plan.ts';
import { preemptorOf, type Preemptor } from '../../../src/preemption/preemptor.ts';
import type { PreemptionPlan } from '../../../src/preemption/search.ts';
import type { Snapshot } from '../../../src/preemption/snapshot.ts';
import { searchLength } from '../../support/length.ts';
import {
  budget,
  node,
  planFor,
  pod,
  podGang,
  podGroup,
  priorityClass,
  snapshotOf,
  type PodIn,
} from './small-cluster.ts';

const KEY = 'acme.example/rack';
const inZone = (name: string, rack: string | undefined): JsonObject =>
  node(name, 2, {}, { labels: rack === undefined ? {} : { [KEY]: rack } });
const gang = (required: string): JsonObject => {
  const made = podGang('new', { className: 'high', groups: { worker: 2 } });
  const topologyConstraint = { packConstraint: { ...(required !== '' && { required }) } };
  return { ...made, spec: { ...(made['spec'] as JsonObject), topologyConstraint } };
};
const wanting: PodIn[] = ['w-0', 'w-1'].map((name) => ({ name, cpu: 2, prio: 100, gang: 'new' }));
const runs = (name: string, on: string, prio: number, more: Partial<PodIn> = {}): JsonObject =>
  pod({ name, on, prio, cpu: 2, ...more });
const high = priorityClass('high', 100);
/** A free node and a full one in each of two racks; it costs less in y. */
const racks = [
  inZone('x1', 'x'),
  inZone('x2', 'x'),
  inZone('y1', 'y'),
  inZone('y2', 'y'),
  inZone('z', undefined),
  runs('in-x', 'x2', 50),
  runs('in-y', 'y2', 10),
  high,
];

describe('a gang that has to be in one domain', () => {
  const found = (objects: JsonObject[], required = KEY, pods = wanting) => {
    const { fits, feasible, placement, victims, rejected } = planFor(
      pods,
      [...objects, gang(required)],
      'kep',
    );
    return {
      ...{ fits, feasible, rejected },
      nodes: [...placement.values()].sort(),
      victims: victims.map(({ unit }) => unit.name),
    };
  };

  test('may be anywhere without', () => {
    expect(found(racks, '')).toMatchObject({ fits: true, victims: [] });
  });

  test('goes where making room costs least', () => {
    expect(found(racks)).toMatchObject({
      fits: false,
      feasible: true,
      victims: ['in-y'],
      nodes: ['y1', 'y2'],
    });
  });

  test('goes where it fits as it is, the first by name', () => {
    const freed = racks.filter((one) => !/in-[xy]/.test(JSON.stringify(one)));
    expect(found(freed)).toMatchObject({ fits: true, nodes: ['x1', 'x2'] });
  });

  /** Each of the racks is full, with somebody of its own priority. */
  const fullRacks = (priorities: readonly number[]): JsonObject[] =>
    priorities.flatMap((prio, index) => {
      const rack = `r${String(index).padStart(2, '0')}`;
      return [0, 1].flatMap((at) => [
        inZone(`${rack}-${at}`, rack),
        runs(`in-${rack}-${at}`, `${rack}-${at}`, prio),
      ]);
    });

  const twenty = Array.from({ length: 20 }, (_, index) => (index === 19 ? 10 : 90 - index));

  test('of many domains all are searched that could be cheaper, whatever their names', () => {
    const made = planFor(wanting, [...fullRacks(twenty), high, gang(KEY)], 'kep');
    expect(made.victims.map(({ unit }) => unit.name).sort()).toEqual(['in-r19-0', 'in-r19-1']);
    expect(made.domains).toEqual([{ scope: { groups: undefined, key: KEY }, required: true, value: 'r19' }]);
  });

  test('what was not looked at is said', () => {
    // All racks cost the same, so that none is ruled out by what was found before.
    const alike = fullRacks(twenty.map(() => 10));
    const { snapshot, read } = snapshotOf([...alike, high, gang(KEY)]);
    const preemptor = preemptorOf(wanting.map(read), snapshot, 'kep');
    const { topology } = preemptor;
    if (topology === undefined) throw new Error('it has one');
    const search = (one: Preemptor, within: Snapshot): PreemptionPlan => planPreemption(one, within, 'kep');
    // A rack has two nodes and two Pods.
    const plan = planInDomains(preemptor, topology, snapshot, search, 16 * 4);
    expect(plan.domains).toMatchObject([{ value: 'r00', leftOut: 4 }]);
    const outcome = { plan, preemptor, shortfall: [], largest: undefined } as unknown as PlanOutcome;
    const text = planText(outcome, {
      reprieved: false,
      now: 0,
      palette: paletteFor('never', { env: {}, isTerminal: false }),
      width: 200,
    });
    expect(text).toContain('required; 4 more domains not looked at');
    expect(planObject(outcome)).toMatchObject({ domains: [{ domain: 'r00', leftOut: 4 }] });
  });

  test('as if each domain were a cluster of its own, and the cheapest taken', () => {
    const seen = { ruledOut: 0, broken: 0 };
    const unit = fc.record({ prio: fc.integer({ min: 1, max: 20 }), guarded: fc.boolean() });
    const rack = fc.tuple(unit, unit, fc.option(unit));
    const cluster = fc.record({ racks: fc.array(rack, { minLength: 2, maxLength: 24 }), allowed: fc.nat(2) });
    fc.assert(
      fc.property(cluster, ({ racks: given, allowed }) => {
        const objectsOf = (index: number): JsonObject[] =>
          (given[index] ?? []).flatMap((one, at) => {
            const on = `r${index}-${at}`;
            const labels = { app: one?.guarded === true ? 'a' : 'b' };
            const there =
              one === null ? [] : [runs(`in-${on}`, on, one.prio, { labels, start: index * 3 + at })];
            return [inZone(on, `r${index}`), ...there];
          });
        const others = [budget('a', allowed), high, gang(KEY)];
        const inTurn = given.map((_, index) => planFor(wanting, [...objectsOf(index), ...others], 'kep'));
        const costs = inTurn.filter(({ feasible }) => feasible).map((plan) => ({ cost: costOf(plan) }));
        const best = costs.reduce((least, one) => (cheaper(one, least) ? one : least));
        const whole = planFor(wanting, [...given.keys()].flatMap(objectsOf).concat(others), 'kep');
        expect(whole.feasible).toBe(true);
        expect(costOf(whole)).toEqual(best.cost);
        expect(whole.domains[0]?.leftOut).toBeUndefined();
        if (best.cost[0] === 0) seen.ruledOut += 1;
        else seen.broken += 1;
      }),
      { numRuns: searchLength({ short: 200, long: 5_000 }) },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });

  test('stays where members of it run', () => {
    const member = runs('w-9', 'x1', 100, { gang: 'new' });
    expect(found([...racks, member], KEY, wanting.slice(0, 1))).toMatchObject({
      victims: ['in-x'],
      nodes: ['x2'],
    });
  });

  test('… and waits for what is on its way out', () => {
    const leaving = racks.map((one) =>
      /in-x/.test(JSON.stringify(one)) ? runs('in-x', 'x2', 50, { leaving: true }) : one,
    );
    expect(found(leaving)).toMatchObject({ feasible: true, victims: [], nodes: ['x1', 'x2'] });
  });

  test('does not fit where no domain is large enough, and is told so of each node', () => {
    const small = [
      inZone('x1', 'x'),
      inZone('y1', 'y'),
      inZone('z', undefined),
      runs('in-x', 'x1', 10),
      high,
    ];
    const { feasible, rejected } = found(small);
    expect(feasible).toBe(false);
    expect(rejected).toEqual([
      ...['x1', 'y1'].map((name) => ({
        node: name,
        predicate: 'TopologyConstraint',
        messages: [`node(s) in a domain of ${KEY} without room for the whole gang`],
      })),
      {
        node: 'z',
        predicate: 'TopologyConstraint',
        messages: [`node(s) in no domain of ${KEY} that the gang may use`],
      },
    ]);
  });

  test('nobody goes for one that may not preempt', () => {
    const never = priorityClass('high', 100, { preemptionPolicy: 'Never' });
    expect(found([...racks.filter((one) => one !== high), never])).toMatchObject({
      feasible: false,
      victims: [],
    });
  });

  test('a snapshot keeps it, and hides whose label it is', () => {
    const hide = anonymizer(Buffer.from('salt'));
    const texts = [gang(KEY), inZone('x1', 'x')].map((one) => JSON.stringify(hide(trimmed(one))));
    expect(texts.join('')).not.toContain('acme');
    const [, hashed = ''] = /"required":"(x[0-9a-f]{12})"/.exec(texts[0] ?? '') ?? [];
    expect(hashed).not.toBe('');
    expect(texts[1]).toContain(hashed);
  });
});

describe('kube-1.36: a gang that has to be in one domain', () => {
  const native = (min: number, key = ''): JsonObject => {
    const made = podGroup('new', { prio: 100, min });
    const topology = { schedulingConstraints: { topology: [{ key }] } };
    return key === '' ? made : { ...made, spec: { ...(made['spec'] as JsonObject), ...topology } };
  };
  const members = (count: number): PodIn[] =>
    Array.from({ length: count }, (_, index) => ({ name: `w-${index}`, cpu: 2, prio: 100, podGroup: 'new' }));
  const found = (objects: JsonObject[], group: JsonObject, pods = members(2)) => {
    const { fits, feasible, placement, victims, rejected, refusal, domains } = planFor(
      pods,
      [...objects, group],
      'kube-1.36',
    );
    const chosen = domains.map(({ value, required }) => ({ value, required }));
    return {
      ...{ fits, feasible, refusal, rejected, chosen },
      victims: victims.map(({ unit }) => unit.name),
      nodes: [...placement.values()].sort(),
    };
  };
  const free = [inZone('x1', 'x'), inZone('y1', 'y'), inZone('y2', 'y'), inZone('z', undefined)];

  test('goes into the domain that holds most of it, though less would do', () => {
    expect(found(free, native(1, KEY))).toMatchObject({
      ...{ fits: true, nodes: ['y1', 'y2'], victims: [], refusal: undefined },
      chosen: [{ value: 'y', required: true }],
    });
  });

  test('of several that hold as much goes into the first by name', () => {
    expect(found([...free, inZone('x2', 'x')], native(2, KEY))).toMatchObject({
      chosen: [{ value: 'x', required: true }],
    });
  });

  test('preempts nobody, where without the constraint somebody would go', () => {
    // One free node in each rack, and nobody of lower priority outside of them.
    expect(found(racks, native(4), members(4)).victims).toEqual(['in-y']);
    expect(found(racks, native(2, KEY))).toMatchObject({
      ...{ fits: false, feasible: false, victims: [], nodes: [], chosen: [] },
      refusal: { why: 'TopologyUnserved' },
      rejected: [
        ...['x1', 'x2', 'y1', 'y2'].map((node) => ({
          node,
          messages: [`node(s) in a domain of ${KEY} without room for the whole gang`],
        })),
        { node: 'z', messages: [`node(s) in no domain of ${KEY} that the gang may use`] },
      ],
    });
  });

  test('stays where members of it run; nowhere where they run in two domains, or in none', () => {
    const there = (...on: string[]): JsonObject[] =>
      on.map((name) => runs(`m-${name}`, name, 100, { podGroup: 'new' }));
    expect(found([...free, ...there('y1')], native(2, KEY), members(1))).toMatchObject({ nodes: ['y2'] });
    expect(found([...free, inZone('x2', 'x'), ...there('x1', 'y1')], native(2, KEY), members(1)).fits).toBe(
      false,
    );
    expect(found([...free, ...there('z')], native(2, KEY), members(1)).fits).toBe(false);
  });

  test('a Pod more than a gang needs, for which there is no place, does not count as started', () => {
    const running = runs('m', 'n', 100, { podGroup: 'new' });
    expect(found([inZone('n', 'x'), running], native(1), members(1)).fits).toBe(false);
  });

  test('a PodGang has the constraint that its native gang would get: the narrowest that is for all of it', () => {
    const inRack = (spec: JsonObject): JsonObject => {
      const made = podGang('new', { className: 'high', groups: { worker: 2 } });
      return { ...made, spec: { ...(made['spec'] as JsonObject), ...spec } };
    };
    const packed = (required: string) => ({ topologyConstraint: { packConstraint: { required } } });
    const two = [inZone('x1', 'x'), inZone('y1', 'y'), inZone('y2', 'y'), high];
    const worker = [{ name: 'worker', minReplicas: 2, podReferences: [], ...packed(KEY) }];
    for (const spec of [packed(KEY), { ...packed('kubernetes.io/os'), podgroups: worker }])
      expect(planFor(wanting, [...two, inRack(spec)], 'kube-1.36').domains).toEqual([
        { scope: { groups: undefined, key: KEY }, required: true, value: 'y' },
      ]);
  });

  test('a snapshot keeps it, and hides whose label it is', () => {
    const text = JSON.stringify(anonymizer(Buffer.from('salt'))(trimmed(native(2, KEY))));
    expect(text).toMatch(/"schedulingConstraints":\{"topology":\[\{"key":"x[0-9a-f]{12}"\}\]\}/);
  });
});
