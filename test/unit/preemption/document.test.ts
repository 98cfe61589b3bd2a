import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import {
  budget,
  node,
  planFor,
  pod,
  podGang,
  podGroup,
  priorityClass,
  victimsFor,
  type PodIn,
} from './small-cluster.ts';
import { VARIANTS } from '../../../src/preemption/variants.ts';

const NAMED = { priorityClassName: 'high' };
const one = (name: string, on: string, prio: number, more: Partial<PodIn> = {}): PodIn => ({
  name,
  on,
  prio,
  cpu: 1,
  ...more,
});
const gangOf = (count: number, cpu: number, prio: number): PodIn[] =>
  Array.from({ length: count }, (_, index) => ({ name: `want-${index}`, cpu, prio, podGroup: 'p' }));

/** The same cluster under both algorithms. */
const both = (wanting: readonly PodIn[], objects: Parameters<typeof victimsFor>[1]) => ({
  kep: victimsFor(wanting, objects, 'kep'),
  kube: victimsFor(wanting, objects, 'kube-1.36'),
});

describe('where the two algorithms go the same way, and where they do not', () => {
  const p = podGroup('p', { prio: 100, min: 1 });
  const asGang = (cpu: number, prio = 100): PodIn[] => [
    { name: 'want', cpu, prio, podGroup: 'p', gang: 'p' },
  ];

  test('D1: the lowest priority goes, wherever the scores would have put the gang', () => {
    const objects = [
      node('a', 3),
      node('b', 3),
      pod(one('a1', 'a', 50, { cpu: 3 })),
      pod(one('b1', 'b', 10, { cpu: 3 })),
      p,
    ];
    expect(both(asGang(3), objects)).toEqual({ kep: ['b1'], kube: ['b1'] });
  });

  test('D2: a budget is kept by the one where the gang is placed anew; the document keeps the first place', () => {
    const objects = [
      node('a', 3),
      node('b', 3),
      pod(one('a1', 'a', 10, { cpu: 3, labels: { app: 'foo' } })),
      pod(one('b1', 'b', 50, { cpu: 3 })),
      budget('foo', 0),
      p,
    ];
    // With all gone the gang goes to a, the first by name: a1 cannot stay beside it, and N is its priority.
    expect(both(asGang(3), objects)).toEqual({ kep: ['a1'], kube: ['b1'] });
  });

  test('D3: of the same priority a group is more important than a Pod', () => {
    const group = podGroup('g', { prio: 10, mode: 'PodGroup' });
    const objects = [
      node('a', 4),
      pod(one('g-1', 'a', 10, { podGroup: 'g' })),
      pod(one('g-2', 'a', 10, { podGroup: 'g' })),
      pod(one('s', 'a', 10, { cpu: 2 })),
      group,
      p,
    ];
    expect(both(asGang(2), objects)).toEqual({ kep: ['s'], kube: ['s'] });
  });

  test('D4: the lowest priority that is enough', () => {
    const objects = [node('a', 2), pod(one('x', 'a', 10)), pod(one('y', 'a', 20)), p];
    expect(both(asGang(1), objects)).toEqual({ kep: ['x'], kube: ['x'] });
  });

  test('D5: a member that is disrupted alone counts with the priority of its group; 1.36 takes its own', () => {
    const objects = [
      node('a', 2),
      pod(one('x', 'a', 20)),
      pod(one('m', 'a', 10, { podGroup: 'g' })),
      podGroup('g', { prio: 100, mode: 'Pod' }),
      podGroup('p', { prio: 50, min: 1 }),
    ];
    expect(both(asGang(1, 50), objects)).toEqual({ kep: ['x'], kube: ['m'] });
  });

  test('D6: a gang fits once its minimum does', () => {
    const objects = [
      node('a', 3),
      pod(one('h', 'a', 500)),
      pod(one('x', 'a', 10)),
      pod(one('y', 'a', 10)),
      podGroup('p', { prio: 100, min: 2 }),
      priorityClass('hundred', 100),
      podGang('p', { className: 'hundred', groups: { worker: 2 } }),
    ];
    const wanting = gangOf(3, 1, 100).map((given) => ({ ...given, gang: 'p' }));
    expect(both(wanting, objects)).toEqual({ kep: ['x', 'y'], kube: ['x', 'y'] });
  });
});

describe('the stories of the document', () => {
  const classes = [priorityClass('low', 10), priorityClass('middle', 50), priorityClass('high', 100)];
  const wanting: PodIn[] = [{ name: 'want', cpu: 1, gang: 'new' }];
  const gang = podGang('new', { className: 'high' });
  const training = (mode: 'Pod' | 'PodGroup', cost?: string) => [
    node('n1', 2),
    node('n2', 2),
    ...['n1', 'n1', 'n2', 'n2'].map((on, index) =>
      pod({ name: `old-${index}`, on, cpu: 1, prio: 10, gang: 'old' }),
    ),
    ...classes,
    gang,
    podGang('old', { className: 'low', mode, ...(cost === undefined ? {} : { cost }) }),
  ];

  test('a training job, and a replica of multihost inference: never preempted in part', () => {
    const found = planFor(wanting, training('PodGroup'), 'kep');
    expect(found.victims.map(({ unit }) => [unit.kind, unit.name, unit.pods.length])).toEqual([
      ['PodGang', 'old', 4],
    ]);
  });

  test('multihost inference that can go on degraded: loses one worker', () => {
    const found = planFor(wanting, training('Pod'), 'kep');
    expect(found.victims.map(({ unit }) => [unit.kind, unit.pods.length])).toEqual([['Pod', 1]]);
  });

  test('preemption cost: a gang that has not saved its state for long is not preempted by what it would else yield to', () => {
    const other = pod({ name: 'other', on: 'n3', cpu: 1, prio: 50 });
    const objects = (cost?: string) => [...training('PodGroup', cost), node('n3', 1), other];
    expect(victimsFor(wanting, objects(), 'kep')).toEqual(['old-0', 'old-1', 'old-2', 'old-3']);
    expect(victimsFor(wanting, objects('high'), 'kep')).toEqual(['other']);
  });

  test('equal priority is never a victim', () => {
    const objects = [node('n1', 1), pod(one('same', 'n1', 100)), ...classes, gang];
    const found = planFor(wanting, objects, 'kep');
    expect([found.feasible, found.refusal]).toEqual([false, { why: 'NothingBelow', priority: 100 }]);
  });

  test('a gang of which too few Pods are there is told so, whoever runs', () => {
    const five = podGang('new', { className: 'high', groups: { worker: 5 } });
    const found = planFor(wanting, [node('n1', 1), pod(one('low', 'n1', 10)), ...classes, five], 'kep');
    expect(found).toMatchObject({
      feasible: false,
      refusal: { why: 'PodsMissing', group: 'worker', count: 5, given: 1 },
    });
  });

  test('a gang that must not preempt waits', () => {
    const never = podGang('new', {
      className: 'high',
      annotations: { 'muster.dev/preemption-policy': 'Never' },
    });
    const found = planFor(wanting, [node('n1', 1), pod(one('low', 'n1', 10)), ...classes, never], 'kep');
    expect([found.feasible, found.refusal]).toEqual([false, { why: 'NeverPreempts' }]);
  });

  test('Pods that preempt nobody by themselves do so together, where their class says so', () => {
    const pods: PodIn[] = [{ name: 'n', cpu: 1, prio: 100, gang: 'new', never: true, spec: NAMED }];
    const says = (policy?: string) =>
      podGang('new', {
        className: 'high',
        ...(policy !== undefined && { annotations: { 'muster.dev/preemption-policy': policy } }),
      });
    const ofClass = (policy?: string) =>
      priorityClass('high', 100, {
        metadata: {
          name: 'high',
          annotations: { ...(policy && { 'muster.dev/preemption-policy': policy }) },
        },
        preemptionPolicy: 'Never',
      });
    const cluster = [node('n1', 1), pod(one('low', 'n1', 10))];
    const victims = (...more: ReturnType<typeof node>[]) =>
      planFor(pods, [...cluster, ...more], 'kep').victims;
    const together = ofClass('PreemptLowerPriority');
    expect(victims(together, says())).toHaveLength(1);
    expect(victims(together, says('PreemptLowerPriority'))).toHaveLength(1);
    expect(victims(together, says('Never'))).toEqual([]);
    // It is not the gang's to say.
    for (const own of [ofClass(), ofClass('Never')])
      expect(planFor(pods, [...cluster, own, says('PreemptLowerPriority')], 'kep').refusal).toEqual({
        why: 'NeverPreempts',
      });
    // Nor that of a class that stands on the gang alone.
    const others = pods.map((given) => ({ ...given, spec: { priorityClassName: 'polite' } }));
    const polite = priorityClass('polite', 100, { preemptionPolicy: 'Never' });
    expect(planFor(others, [...cluster, together, polite, says()], 'kep').feasible).toBe(false);
  });

  test('what it costs to preempt a gang is above its class only where that class says so', () => {
    const guarded = (more: JsonObject) => [
      node('n1', 1),
      priorityClass('low', 10),
      priorityClass('guard', 500, { metadata: { name: 'guard', ...more } }),
      priorityClass('system-node-critical', 2_000_001_000, {}),
      podGang('old', { className: 'low', cost: 'guard' }),
      pod({ name: 'o', on: 'n1', cpu: 1, prio: 10, gang: 'old' }),
    ];
    const wanting = [{ name: 'n', cpu: 1, prio: 100 }];
    const allowed = { annotations: { 'muster.dev/preemption-priority-for': 'other, low' } };
    expect(victimsFor(wanting, guarded(allowed), 'kep')).toBeUndefined();
    expect(victimsFor(wanting, guarded({}), 'kep')).toEqual(['o']);
    // That of the system never, whatever it says.
    const system = podGang('old', { className: 'low', cost: 'system-node-critical' });
    expect(victimsFor(wanting, [...guarded(allowed), system], 'kep')).toEqual(['o']);
  });

  test('what fits as it is needs nobody', () => {
    const found = planFor(wanting, [node('n1', 2), pod(one('low', 'n1', 10)), ...classes, gang], 'kep');
    expect(found).toMatchObject({ fits: true, feasible: true, victims: [], awaited: [] });
    expect([...found.placement]).toEqual([['ns/want', 'n1']]);
  });

  test('what is on its way out is waited for, and nobody more has to go', () => {
    const objects = [
      node('n1', 1),
      node('n2', 1),
      pod(one('leaving', 'n1', 10, { leaving: true })),
      pod(one('staying', 'n2', 10)),
      ...classes,
      gang,
    ];
    const found = planFor(wanting, objects, 'kep');
    expect(found).toMatchObject({ fits: false, feasible: true, victims: [], awaited: ['ns/leaving'] });
  });

  test('its own members are never its victims', () => {
    const objects = [
      node('n1', 2),
      pod({ name: 'mine', on: 'n1', cpu: 1, prio: 10, gang: 'new' }),
      pod(one('low', 'n1', 10)),
      ...classes,
      podGang('new', { className: 'high', groups: { worker: 2 } }),
    ];
    expect(victimsFor(wanting, objects, 'kep')).toEqual(['low']);
  });
});

describe('a single Pod under the document', () => {
  test('a group that is preempted for it counts with all its Pods, also those elsewhere', () => {
    const objects = [
      node('n1', 1),
      node('n2', 2),
      node('n3', 1),
      pod(one('g-1', 'n1', 10, { gang: 'g' })),
      pod(one('g-2', 'n3', 10, { gang: 'g' })),
      pod(one('a', 'n2', 10)),
      pod(one('b', 'n2', 10)),
      priorityClass('ten', 10),
      podGang('g', { className: 'ten', mode: 'PodGroup' }),
    ];
    expect(victimsFor([{ name: 'want', cpu: 1, prio: 100 }], objects, 'kep')).toEqual(['b']);
  });
});

describe('decisions that the document leaves open', () => {
  const p = podGroup('p', { prio: 100, min: 1 });
  const want = (cpu: number): PodIn[] => [{ name: 'want', cpu, prio: 100, podGroup: 'p', gang: 'p' }];
  const broken = (objects: Parameters<typeof planFor>[1], variant: 'kep' | 'kube-1.36') =>
    planFor(want(3), objects, variant)
      .victims.filter(({ violatesBudget }) => violatesBudget)
      .map(({ unit }) => unit.name);

  test('one budget, two Pods of a unit: the document charges both, 1.36 stops at the first that breaks it', () => {
    const member = (name: string, app: string) => pod(one(name, 'a', 10, { podGroup: 'g', labels: { app } }));
    // g breaks foo with its first Pod; its second would take the last of bar, which the later x then breaks.
    const objects = [
      node('a', 3),
      member('g-1', 'foo'),
      member('g-2', 'bar'),
      pod(one('x', 'a', 5, { labels: { app: 'bar' } })),
      podGroup('g', { prio: 10, mode: 'PodGroup' }),
      budget('foo', 0),
      budget('bar', 1),
      p,
    ];
    expect(broken(objects, 'kep')).toEqual(['g', 'x']);
    expect(broken(objects, 'kube-1.36')).toEqual(['g']);
  });

  test('which Pod of a unit charges first, where 1.36 stops at the first that breaks one: by name', () => {
    const unit = (first: string, second: string) => [
      pod(one('g-1', 'a', 10, { podGroup: 'g', labels: { app: first } })),
      pod(one('g-2', 'a', 10, { podGroup: 'g', labels: { app: second } })),
      pod(one('x', 'a', 5, { labels: { app: 'bar' } })),
    ];
    const rest = [
      node('a', 3),
      podGroup('g', { prio: 10, mode: 'PodGroup' }),
      budget('foo', 0),
      budget('bar', 1),
      p,
    ];
    // g-1 breaks foo, so bar still has its one for x; or g-1 takes it, and x breaks bar, too.
    expect(broken([...unit('foo', 'bar'), ...rest], 'kube-1.36')).toEqual(['g']);
    expect(broken([...unit('bar', 'foo').reverse(), ...rest], 'kube-1.36')).toEqual(['g', 'x']);
    expect(broken([...unit('foo', 'bar'), ...rest], 'kep')).toEqual(['g', 'x']);
  });

  test('a Pod that never started is the youngest', () => {
    const objects = [
      node('a', 2),
      pod(one('a-waits', 'a', 10)),
      pod(one('b-runs', 'a', 10, { start: 5 })),
      p,
    ];
    expect(both(want(1), objects)).toEqual({ kep: ['a-waits'], kube: ['a-waits'] });
  });

  const minding = (kind: 'podAffinity' | 'podAntiAffinity') => ({
    affinity: {
      [kind]: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'db' } } },
        ],
      },
    },
  });
  const inZone = (name: string, cpu: number, zone: string) => node(name, cpu, {}, { labels: { zone } });
  const db = { labels: { app: 'db' } };

  test('with Pods that mind who is near, each priority is tried from the lowest', () => {
    // Without low it fits beside db-2. Without db-2 it would have to go to db-5, where there is no room, unless that is
    // gone as well: then it is the first of its kind. Halving would look at the middle, and never below it again.
    const objects = [
      inZone('a', 2, 'x'),
      inZone('b', 1, 'y'),
      inZone('c', 2, 'z'),
      pod(one('low', 'a', 1)),
      pod(one('db-2', 'a', 2, db)),
      pod(one('three', 'c', 3)),
      pod(one('four', 'c', 4)),
      pod(one('db-5', 'b', 5, db)),
      p,
    ];
    const wanting = want(1).map((given) => ({ ...given, ...db, spec: minding('podAffinity') }));
    expect(victimsFor(wanting, objects, 'kep')).toEqual(['low']);
  });

  test('who is near on another node of the zone has to go, too', () => {
    const objects = [inZone('a', 1, 'x'), inZone('b', 1, 'x'), pod(one('near', 'b', 1, db)), p];
    const wanting = want(1).map((given) => ({ ...given, spec: minding('podAntiAffinity') }));
    expect(both(wanting, objects)).toEqual({ kep: ['near'], kube: ['near'] });
  });

  test.each(VARIANTS)(
    '%s: a budget with an empty selector protects nobody, as kube-scheduler has it',
    (variant) => {
      const everything = { ...budget('all', 0), spec: { selector: {} } };
      const objects = [node('a', 1), pod(one('low', 'a', 10)), everything, p];
      const found = planFor([{ name: 'w', cpu: 1, prio: 100, podGroup: 'p' }], objects, variant);
      expect(found.victims.map(({ unit, violatesBudget }) => [unit.name, violatesBudget])).toEqual([
        ['low', false],
      ]);
    },
  );

  test('of two alike the one that a budget protects stays', () => {
    const objects = [
      node('a', 2),
      pod(one('a-free', 'a', 10)),
      pod(one('b-kept', 'a', 10, { labels: { app: 'foo' } })),
      budget('foo', 0),
      p,
    ];
    expect(both(want(1), objects)).toEqual({ kep: ['a-free'], kube: ['a-free'] });
  });
});
