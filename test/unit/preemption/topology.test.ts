/** Gangs whose Pods need the same value of a node label. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { paletteFor } from '../../../src/cli/output/palette.ts';
import { planObject, planText } from '../../../src/cli/plan/render-plan.ts';
import { anonymizer } from '../../../src/cli/snapshot/anonymous.ts';
import type { PlanOutcome } from '../../../src/preemption/outcome.ts';
import { trimmed } from '../../../src/preemption/read/trim.ts';
import { node, planFor, pod, podGang, podGroup, priorityClass, type PodIn } from './small-cluster.ts';

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

  test('of many domains those are looked at from which the least important would go, and it says how many not', () => {
    const priorities = Array.from({ length: 20 }, (_, index) => (index === 19 ? 10 : 90 - index));
    const made = planFor(wanting, [...fullRacks(priorities), high, gang(KEY)], 'kep');
    expect(made.victims.map(({ unit }) => unit.name).sort()).toEqual(['in-r19-0', 'in-r19-1']);
    expect(made.domains).toEqual([
      { scope: { groups: undefined, key: KEY }, required: true, value: 'r19', leftOut: 4 },
    ]);
    const preemptor = { kind: 'Gang', key: 'ns/new', priority: 100 } as const;
    const outcome = { plan: made, preemptor, shortfall: [], largest: undefined } as unknown as PlanOutcome;
    const text = planText(outcome, {
      reprieved: false,
      now: 0,
      palette: paletteFor('never', { env: {}, isTerminal: false }),
      width: 200,
    });
    expect(text).toContain('required; 4 more domains not looked at');
    expect(planObject(outcome)).toMatchObject({ domains: [{ domain: 'r19', leftOut: 4 }] });
  });

  test('the highest priority that goes is the lowest of all domains, however many there are', () => {
    const priority = fc.integer({ min: 1, max: 99 });
    fc.assert(
      fc.property(fc.array(priority, { minLength: 17, maxLength: 24 }), (priorities) => {
        const { victims } = planFor(wanting, [...fullRacks(priorities), high, gang(KEY)], 'kep');
        expect(victims[0]?.unit.priority).toBe(Math.min(...priorities));
      }),
      { numRuns: 30 },
    );
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
