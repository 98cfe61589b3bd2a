/** What kube-scheduler 1.37 does otherwise than 1.36: each row of "kube-1.37" in docs/preemption-algorithms.md has a test here. */
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { outcomeOf, planVerdict } from '../../../src/preemption/outcome.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import type { Variant } from '../../../src/preemption/variants.ts';
import {
  budget,
  node,
  planFor,
  pod,
  podGang,
  podGroup,
  priorityClass,
  snapshotOf,
  victimsFor,
  type PodIn,
} from './small-cluster.ts';

const one = (name: string, on: string, prio: number, more: Partial<PodIn> = {}): PodIn => ({
  ...{ name, on, prio, cpu: 1 },
  ...more,
});
const gangOf = (count: number, cpu: number, more: Partial<PodIn> = {}): PodIn[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ name: `want-${index}`, cpu, prio: 100, podGroup: 'p' },
    ...more,
  }));
const p = (min: number, more: JsonObject = {}): JsonObject => {
  const made = podGroup('p', { prio: 100, min });
  return { ...made, spec: { ...(made['spec'] as JsonObject), ...more } };
};
/** The same cluster for each of the three. */
const each = (wanting: readonly PodIn[], objects: readonly JsonObject[]) => ({
  kep: victimsFor(wanting, objects, 'kep'),
  'kube-1.36': victimsFor(wanting, objects, 'kube-1.36'),
  'kube-1.37': victimsFor(wanting, objects, 'kube-1.37'),
});
const all = (victims: readonly string[]) => ({ kep: victims, 'kube-1.36': victims, 'kube-1.37': victims });
const found = (wanting: readonly PodIn[], objects: readonly JsonObject[], variant: Variant = 'kube-1.37') => {
  const { fits, feasible, refusal, victims, placement } = planFor(wanting, objects, variant);
  return { fits, feasible, refusal, victims: victims.map(({ unit }) => unit.name), placement };
};

describe('the gang stays where it was placed with nobody there', () => {
  const two = (a: Partial<PodIn>, b: Partial<PodIn>): JsonObject[] => [
    node('a', 3),
    node('b', 3),
    pod(one('a1', 'a', 50, { cpu: 3, ...a })),
    pod(one('b1', 'b', 10, { cpu: 3, ...b })),
  ];

  test('D1: whoever is there goes, though less important ones are elsewhere', () => {
    expect(each(gangOf(1, 3), [...two({}, {}), p(1)])).toEqual({
      ...all(['b1']),
      'kube-1.37': ['a1'],
    });
  });

  test('D2: whoever is there goes, though a budget protects him and nobody elsewhere', () => {
    const objects = [...two({ prio: 10, labels: { app: 'foo' } }, { prio: 50 }), budget('foo', 0), p(1)];
    expect(each(gangOf(1, 3), objects)).toEqual({ ...all(['a1']), 'kube-1.36': ['b1'] });
  });

  test('D3 and D4: on one node it is the least important', () => {
    const group = podGroup('g', { prio: 10, mode: 'PodGroup' });
    const members = ['g-1', 'g-2'].map((name) => pod(one(name, 'a', 10, { podGroup: 'g' })));
    const third = [node('a', 4), ...members, group, pod(one('s', 'a', 10, { cpu: 2 })), p(1)];
    expect(each(gangOf(1, 2), third)).toEqual(all(['s']));
    const fourth = [node('a', 2), pod(one('x', 'a', 10)), pod(one('y', 'a', 20)), p(1)];
    expect(each(gangOf(1, 1), fourth)).toEqual(all(['x']));
  });

  test('a Pod beyond the minimum has victims as well, where it finds a place with nobody there', () => {
    const full = ['a', 'b', 'c', 'd'].flatMap((name) => [node(name, 1), pod(one(`on-${name}`, name, 10))]);
    const { 'kube-1.36': before, 'kube-1.37': since } = each(gangOf(4, 1), [...full, p(1)]);
    expect([before?.length, since]).toEqual([1, ['on-a', 'on-b', 'on-c', 'on-d']]);
  });

  test('D6: not where it finds none', () => {
    const objects = [
      node('a', 3),
      pod(one('h', 'a', 500)),
      pod(one('x', 'a', 10)),
      pod(one('y', 'a', 10)),
      p(2),
    ];
    expect(found(gangOf(3, 1), objects)).toMatchObject({ feasible: true, victims: ['x', 'y'] });
  });

  test('a gang that was not placed as it went along may fit beside everybody: nobody goes', () => {
    // As it is the small one takes b, which is unused; with nobody there a, the first by name, where `low` can stay beside it.
    const objects = [node('a', 4), node('b', 4), pod(one('low', 'a', 10, { cpu: 3 })), p(2)];
    const wanting = [1, 4].map((cpu): PodIn => ({ name: `w${cpu}`, cpu, prio: 100, podGroup: 'p' }));
    const planned = planFor(wanting, objects, 'kube-1.37');
    expect(planned).toMatchObject({ fits: false, feasible: true, victims: [] });
    const { snapshot, read } = snapshotOf(objects);
    const outcome = outcomeOf(preemptorOf(wanting.map(read), snapshot, 'kube-1.37'), planned, snapshot);
    expect(planVerdict(outcome)).toBe(
      'fits beside all that runs, though not where it is tried first; nobody has to make room',
    );
    expect(victimsFor(wanting, objects, 'kube-1.36')).toEqual(['low']);
  });
});

describe('distance that others want', () => {
  const away = (app: string) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'host', labelSelector: { matchLabels: { app } } },
        ],
      },
    },
  });
  const host = (name: string, cpu: number) => node(name, cpu, {}, { labels: { host: name } });
  const loner = pod(one('loner', 'a', 20, { spec: away('gang') }));
  const wanting = gangOf(1, 2, { labels: { app: 'gang' } });
  const cluster = [host('a', 3), loner, pod(one('low', 'a', 10)), p(1)];

  test('is overlooked where nobody else wants it: somebody goes, and the gang starts nowhere', () => {
    const planned = found(wanting, cluster);
    expect(planned).toMatchObject({
      feasible: false,
      victims: ['low'],
      refusal: { why: 'EvictsInVain', pods: 1 },
    });
    expect(planned.refusal).toHaveProperty(
      'clash',
      "with it in place ns/want-0 does not fit on a: node(s) didn't satisfy existing pods anti-affinity rules",
    );
    expect(victimsFor(wanting, cluster, 'kube-1.36')).toEqual(['loner']);
  });

  test('is heard of where somebody wants it who stays, anywhere', () => {
    const far = pod(one('far', 'far', 500, { spec: away('gang') }));
    expect(found(wanting, [...cluster, host('far', 1), far])).toMatchObject({
      feasible: true,
      victims: ['loner'],
    });
  });

  test('is heard of where the gang minds somebody itself', () => {
    const minding = gangOf(1, 2, { labels: { app: 'gang' }, spec: away('nobody') });
    expect(found(minding, cluster)).toMatchObject({ feasible: true, victims: ['loner'] });
  });
});

describe('groups', () => {
  test('D5: a member that is disrupted alone costs what its group does', () => {
    const objects = [
      node('a', 2),
      pod(one('x', 'a', 20)),
      pod(one('m', 'a', 10, { podGroup: 'g' })),
      podGroup('g', { prio: 70, mode: 'Pod' }),
      p(1),
    ];
    expect(each(gangOf(1, 1), objects)).toEqual({ ...all(['x']), 'kube-1.36': ['m'] });
  });

  test('a single Pod takes all of a group that is disrupted together, or none of it', () => {
    const objects = [
      ...[node('a', 1), node('b', 1)],
      ...[pod(one('g-1', 'a', 10, { podGroup: 'g' })), pod(one('g-2', 'b', 10, { podGroup: 'g' }))],
      podGroup('g', { prio: 10, mode: 'PodGroup' }),
    ];
    const wanting = [{ name: 'want', cpu: 1, prio: 100 }];
    expect(victimsFor(wanting, objects, 'kube-1.37')).toEqual(['g-1', 'g-2']);
    expect(victimsFor(wanting, objects, 'kube-1.36')).toHaveLength(1);
    const dear = [...objects.slice(0, 4), podGroup('g', { prio: 100, mode: 'PodGroup' })];
    expect(victimsFor(wanting, dear, 'kube-1.37')).toBeUndefined();
  });

  test('nodes are compared for a single Pod by what Pods have themselves, not by what their group costs', () => {
    const objects = [
      ...[node('a', 1), node('b', 1)],
      pod(one('m', 'a', 5, { podGroup: 'g' })),
      pod(one('x', 'b', 20)),
      podGroup('g', { prio: 70, mode: 'Pod' }),
    ];
    expect(victimsFor([{ name: 'want', cpu: 1, prio: 100 }], objects, 'kube-1.37')).toEqual(['m']);
    expect(victimsFor([{ name: 'want', cpu: 1, prio: 100 }], objects, 'kep')).toEqual(['x']);
  });
});

describe('budgets', () => {
  test('a Pod that breaks one charges no further one; the next Pod of its unit does', () => {
    const both = { labels: { app: 'foo', tier: 'bar' } };
    const tier = { ...budget('bar', 1), spec: { selector: { matchLabels: { tier: 'bar' } } } };
    const objects = (...members: JsonObject[]) => [
      node('a', 3),
      ...members,
      pod(one('x', 'a', 5, { labels: { tier: 'bar' } })),
      podGroup('g', { prio: 10, mode: 'PodGroup' }),
      // By name: foo breaks before bar is charged.
      { ...tier, metadata: { name: 'z', namespace: 'ns' } },
      budget('foo', 0),
      p(1),
    ];
    const broken = (cluster: readonly JsonObject[], variant: Variant) =>
      planFor(gangOf(1, 3), cluster, variant)
        .victims.filter(({ violatesBudget }) => violatesBudget)
        .map(({ unit }) => unit.name);
    const first = pod(one('g-1', 'a', 10, { podGroup: 'g', ...both }));
    expect(broken(objects(first), 'kube-1.37')).toEqual(['g']);
    expect(broken(objects(first), 'kep')).toEqual(['g', 'x']);
    const second = pod(one('g-2', 'a', 10, { podGroup: 'g', labels: { tier: 'bar' } }));
    expect(broken(objects(first, second), 'kube-1.37')).toEqual(['g', 'x']);
    expect(broken(objects(first, second), 'kube-1.36')).toEqual(['g']);
  });

  test('a unit that is sent away for a single Pod counts as many broken budgets as Pods of it break one', () => {
    const foo = { labels: { app: 'foo' }, prio: 10 };
    const objects = [
      ...[node('a', 2), node('b', 2)],
      ...['g-1', 'g-2'].map((name) => pod(one(name, 'a', 10, { ...foo, podGroup: 'g' }))),
      pod(one('b-1', 'b', 50, { labels: { app: 'foo' }, cpu: 2 })),
      podGroup('g', { prio: 10, mode: 'PodGroup' }),
      budget('foo', 0),
    ];
    const wanting = [{ name: 'want', cpu: 2, prio: 100 }];
    expect(victimsFor(wanting, objects, 'kube-1.37')).toEqual(['b-1']);
    expect(victimsFor(wanting, objects, 'kep')).toEqual(['g-1', 'g-2']);
  });
});

describe('what keeps a group out', () => {
  const room = [node('a', 9)];

  test('a Pod with another priority than the group, also one that runs', () => {
    const [first, second] = gangOf(2, 1);
    if (first === undefined || second === undefined) throw new Error('two');
    expect(found([first, { ...second, prio: 10 }], [...room, p(1)])).toMatchObject({
      ...{ fits: false, feasible: false, victims: [] },
      refusal: {
        why: 'PodUnlikeGroup',
        pod: { namespace: 'ns', name: 'want-1' },
        field: 'priority',
        has: '10',
        group: '100',
      },
    });
    const running = pod(one('runs', 'a', 99, { podGroup: 'p' }));
    expect(found([first], [...room, running, p(1)]).refusal).toMatchObject({
      pod: { name: 'runs' },
      has: '99',
    });
    expect(found([first], [...room, running, p(1)], 'kube-1.36').fits).toBe(true);
  });

  test('a Pod with another policy than the first; with that of the group, where the group has one', () => {
    const [first, second] = gangOf(2, 1);
    if (first === undefined || second === undefined) throw new Error('two');
    const never = { ...second, never: true };
    const refused = (has: string, group: string) => ({
      refusal: { why: 'PodUnlikeGroup', field: 'preemptionPolicy', has, group },
    });
    expect(found([first, never], [...room, p(1)])).toMatchObject(refused('Never', 'PreemptLowerPriority'));
    const says = (preemptionPolicy: string) => p(1, { preemptionPolicy });
    expect(found([first], [...room, says('Never')])).toMatchObject(refused('PreemptLowerPriority', 'Never'));
    const polite = { ...first, never: true };
    const full = [node('a', 1), pod(one('low', 'a', 10))];
    for (const group of [p(1), says('Never')])
      expect(found([polite], [...full, group]).refusal).toEqual({ why: 'NeverPreempts' });
    expect(found([polite], [...full, says('PreemptLowerPriority')])).toMatchObject(
      refused('Never', 'PreemptLowerPriority'),
    );
  });

  test('a Pod of a PodGang whose native group is not made yet: without a class of its own it gets that of the gang', () => {
    const gang = podGang('p', { className: 'hundred', groups: { worker: 1 } });
    const objects = [...room, priorityClass('hundred', 100), gang];
    expect(found([{ name: 'w', cpu: 1, gang: 'p' }], objects).fits).toBe(true);
    expect(found([{ name: 'w', cpu: 1, gang: 'p', prio: 10 }], objects).refusal).toMatchObject({ has: '10' });
  });
});

test('while room is made on a node that it is nominated for, nobody more goes for a gang', () => {
  const leaving = { leaving: true, told: 'PreemptionByScheduler' };
  const objects = (more: Partial<PodIn>) => [
    ...[node('a', 1), node('b', 1)],
    ...[pod(one('leaves', 'a', 10, more)), pod(one('low', 'b', 10))],
    p(1),
  ];
  const nominated = gangOf(1, 1, { nominated: 'a' });
  expect(found(nominated, objects(leaving)).refusal).toMatchObject({ why: 'RoomBeingMade', node: 'a' });
  expect(found(nominated, objects({ leaving: true })).feasible).toBe(true);
  expect(found(nominated, objects(leaving), 'kube-1.36').feasible).toBe(true);
});

describe('a gang that has to be in one domain', () => {
  const KEY = 'rack';
  const inRack = (name: string, rack: string, cpu: number) => node(name, cpu, {}, { labels: { rack } });
  const packed = (min: number) => p(min, { schedulingConstraints: { topology: [{ key: KEY }] } });
  const chosen = (wanting: readonly PodIn[], objects: readonly JsonObject[]) => {
    const { domains, victims, feasible } = planFor(wanting, objects, 'kube-1.37');
    return {
      feasible,
      domains: domains.map(({ value }) => value),
      victims: victims.map(({ unit }) => unit.name),
    };
  };

  test('preempts, in the domain that scores best with nobody there', () => {
    const objects = [
      ...[inRack('x1', 'x', 2), inRack('y1', 'y', 2), inRack('y2', 'y', 2)],
      ...['x1', 'y1', 'y2'].map((on) => pod(one(`on-${on}`, on, on === 'x1' ? 10 : 50, { cpu: 2 }))),
      packed(1),
    ];
    // y holds both Pods, x one; so it is y, although what runs there is more important.
    expect(chosen(gangOf(2, 2), objects)).toEqual({
      feasible: true,
      domains: ['y'],
      victims: ['on-y1', 'on-y2'],
    });
    // Of domains that hold as many it is the one that is fuller then, with those who stay.
    const fuller = [inRack('x1', 'x', 4), inRack('y1', 'y', 4), pod(one('stays', 'y1', 200, { cpu: 2 }))];
    const low = ['x1', 'y1'].map((on) => pod(one(`low-${on}`, on, 10, { cpu: 2 })));
    const top = pod(one('top', 'x1', 200, { cpu: 1 }));
    expect(chosen(gangOf(1, 2), [...fuller, ...low, top, packed(1)])).toEqual({
      ...{ feasible: true, domains: ['y'], victims: ['low-y1'] },
    });
  });

  test('stays where members of it run, and is told why no domain will do', () => {
    const objects = [inRack('x1', 'x', 2), inRack('y1', 'y', 2), packed(2)];
    const member = pod(one('m', 'x1', 100, { podGroup: 'p' }));
    const low = pod(one('low', 'x1', 10));
    expect(chosen(gangOf(1, 1), [...objects, member, low])).toEqual({
      ...{ feasible: true, domains: ['x'], victims: ['low'] },
    });
    const { rejected } = planFor(gangOf(2, 2), [...objects, pod(one('low', 'x1', 10))], 'kube-1.37');
    expect(rejected.map(({ messages }) => messages[0])).toEqual([
      `node(s) in a domain of ${KEY} without room for the whole gang`,
      `node(s) in a domain of ${KEY} without room for the whole gang`,
    ]);
  });
});
