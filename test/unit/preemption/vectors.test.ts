import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { budget, node, planFor, pod, podGroup, victimsFor, type PodIn } from './small-cluster.ts';

/**
 * The vectors by which kube-scheduler 1.36 and 1.37 test their own preemption, put as clusters: a node gives one slot once certain
 * Pods are gone, where those Pods hold the one slot that the node has.
 */
interface Vector {
  readonly id: number;
  readonly nodes: Readonly<Record<string, number>>;
  readonly running: readonly PodIn[];
  readonly others?: readonly JsonObject[];
  readonly wanting: {
    readonly slots: number;
    readonly prio: number;
    readonly podPrio?: number;
    readonly min?: number;
  };
  readonly victims: readonly string[] | undefined;
  readonly never?: boolean;
}

const [L, M, H] = [10, 100, 1000];
const one = (name: string, on: string, prio: number, more: Partial<PodIn> = {}): PodIn => ({
  name,
  on,
  prio,
  cpu: 1,
  ...more,
});
/** A Pod that takes nothing of what is wanted. */
const free = (name: string, on: string, prio: number, more: Partial<PodIn> = {}): PodIn => ({
  name,
  on,
  prio,
  ...more,
});

const VECTORS: readonly Vector[] = [
  {
    id: 1,
    nodes: { n1: 1, n2: 1, n3: 1 },
    running: [
      one('p1', 'n1', L),
      one('p2', 'n2', L, { podGroup: 'g1' }),
      one('p3', 'n3', L, { podGroup: 'g2' }),
    ],
    others: [podGroup('g1', { prio: L }), podGroup('g2', { prio: L })],
    wanting: { slots: 1, prio: H },
    victims: ['p1'],
  },
  {
    id: 2,
    nodes: { n1: 1, n2: 1, n3: 1 },
    running: [
      one('p1', 'n1', L, { podGroup: 'g1', start: 1 }),
      one('p2', 'n2', L, { podGroup: 'g1', start: 0 }),
      one('p3', 'n3', M),
    ],
    others: [podGroup('g1', { prio: L })],
    wanting: { slots: 1, prio: H },
    victims: ['p1'],
  },
  {
    id: 3,
    nodes: { n1: 1, n2: 1 },
    running: [
      one('p1', 'n1', L, { podGroup: 'g1', start: 1 }),
      one('p2', 'n2', L, { podGroup: 'g1', start: 0 }),
    ],
    others: [podGroup('g1', { prio: L })],
    wanting: { slots: 1, prio: H },
    victims: ['p1'],
  },
  {
    id: 4,
    nodes: { n1: 1, n2: 1, n3: 1, n4: 1, n5: 1 },
    running: [
      one('p1', 'n1', L, { podGroup: 'g1' }),
      one('p2', 'n2', L, { podGroup: 'g1' }),
      one('p3', 'n3', L, { podGroup: 'g2' }),
      one('p4', 'n4', M),
      one('p5', 'n5', H, { podGroup: 'g3' }),
    ],
    others: [podGroup('g1', { prio: L }), podGroup('g2', { prio: L }), podGroup('g3', { prio: H })],
    wanting: { slots: 3, prio: H },
    victims: ['p1', 'p2', 'p3'],
  },
  {
    id: 5,
    nodes: { n1: 1, n2: 1 },
    running: [
      one('va', 'n1', L, { labels: { app: 'foo' }, podGroup: 'g1' }),
      one('vb', 'n2', L, { podGroup: 'g1' }),
    ],
    others: [budget('foo', 0)],
    wanting: { slots: 1, prio: H },
    victims: ['vb'],
  },
  {
    id: 6,
    nodes: { n1: 1, n2: 1, n3: 1 },
    running: [one('p1', 'n1', L), one('p2', 'n2', L), one('p3', 'n3', L)],
    wanting: { slots: 2, prio: H },
    never: true,
    victims: undefined,
  },
  { id: 7, nodes: { n1: 1 }, running: [one('p1', 'n1', L)], wanting: { slots: 1, prio: H }, victims: ['p1'] },
  {
    id: 8,
    nodes: { n1: 3 },
    running: [one('p1', 'n1', L), one('p2', 'n1', M), one('p3', 'n1', H)],
    wanting: { slots: 1, prio: H },
    victims: ['p1'],
  },
  {
    id: 9,
    nodes: { n1: 1 },
    running: [one('p1', 'n1', L), free('p2', 'n1', L), free('p3', 'n1', L), free('p4', 'n1', L)],
    wanting: { slots: 1, prio: H },
    victims: ['p1'],
  },
  {
    id: 10,
    nodes: { n1: 2 },
    running: [one('va', 'n1', L, { labels: { app: 'foo' } }), one('vb', 'n1', L)],
    others: [budget('foo', 0)],
    wanting: { slots: 1, prio: H },
    victims: ['vb'],
  },
  {
    id: 11,
    nodes: { n1: 2 },
    running: [one('p1', 'n1', L, { labels: { app: 'foo' } }), one('p2', 'n1', M, { labels: { app: 'foo' } })],
    others: [budget('foo', 0)],
    wanting: { slots: 1, prio: H },
    victims: ['p1'],
  },
  {
    id: 12,
    nodes: { n1: 1, n2: 0 },
    running: [one('p1', 'n1', L, { podGroup: 'g1' }), free('p2', 'n2', L, { podGroup: 'g1' })],
    others: [podGroup('g1', { prio: L, mode: 'PodGroup' })],
    wanting: { slots: 1, prio: H },
    victims: ['p1', 'p2'],
  },
  {
    id: 13,
    nodes: { n1: 2 },
    running: [
      one('p1', 'n1', L),
      one('g1-1', 'n1', L, { podGroup: 'g1' }),
      free('g1-2', 'n1', L, { podGroup: 'g1' }),
    ],
    others: [podGroup('g1', { prio: L, mode: 'PodGroup' })],
    wanting: { slots: 1, prio: H },
    victims: ['p1'],
  },
  {
    id: 14,
    nodes: { n1: 1 },
    running: [
      one('g1-1', 'n1', L, { podGroup: 'g1' }),
      free('g1-2', 'n1', L, { podGroup: 'g1' }),
      free('p1', 'n1', M),
    ],
    others: [podGroup('g1', { prio: L, mode: 'PodGroup' })],
    wanting: { slots: 1, prio: H },
    victims: ['g1-1', 'g1-2'],
  },
  {
    id: 15,
    nodes: { n1: 2 },
    running: [
      one('g1-1', 'n1', L, { podGroup: 'g1', labels: { app: 'foo' } }),
      free('g1-2', 'n1', L, { podGroup: 'g1' }),
      one('p1', 'n1', L),
    ],
    others: [podGroup('g1', { prio: L, mode: 'PodGroup' }), budget('foo', 0)],
    wanting: { slots: 1, prio: H },
    victims: ['p1'],
  },
  {
    id: 16,
    nodes: { n1: 1 },
    running: [one('p1', 'n1', H)],
    wanting: { slots: 1, prio: M },
    victims: undefined,
  },
  { id: 17, nodes: { n1: 0 }, running: [], wanting: { slots: 1, prio: M }, victims: undefined },
  {
    id: 18,
    nodes: { n1: 1 },
    running: [one('p1', 'n1', H, { podGroup: 'g1' }), free('p2', 'n1', H, { podGroup: 'g1' })],
    others: [podGroup('g1', { prio: M, mode: 'PodGroup' })],
    wanting: { slots: 1, prio: H },
    victims: ['p1', 'p2'],
  },
  {
    id: 19,
    nodes: { n1: 1 },
    running: [one('p1', 'n1', L, { podGroup: 'g1' }), free('p2', 'n1', L, { podGroup: 'g1' })],
    others: [podGroup('g1', { prio: M, mode: 'PodGroup' })],
    wanting: { slots: 1, prio: M },
    victims: undefined,
  },
  {
    id: 20,
    nodes: { n1: 1 },
    running: [one('p1', 'n1', M, { podGroup: 'g1' }), free('p2', 'n1', M, { podGroup: 'g1' })],
    others: [podGroup('g1', { prio: M, mode: 'PodGroup' })],
    wanting: { slots: 1, prio: H, podPrio: L },
    victims: ['p1', 'p2'],
  },
  {
    id: 20.5,
    nodes: { n1: 1 },
    running: [one('p1', 'n1', M, { podGroup: 'g1' }), free('p2', 'n1', M, { podGroup: 'g1' })],
    others: [podGroup('g1', { prio: M, mode: 'PodGroup' })],
    wanting: { slots: 1, prio: L, podPrio: H },
    victims: undefined,
  },
  {
    id: 21,
    nodes: { n1: 3 },
    running: [one('low-1', 'n1', 10), one('low-2', 'n1', 10), one('low-3', 'n1', 10)],
    wanting: { slots: 3, prio: 100 },
    victims: ['low-1', 'low-2', 'low-3'],
  },
  {
    id: 22,
    nodes: { n1: 2, n2: 2 },
    running: [one('low-1', 'n1', 10, { cpu: 2 }), one('low-2', 'n2', 10)],
    wanting: { slots: 3, prio: 100 },
    victims: ['low-1'],
  },
  {
    id: 23,
    nodes: { n1: 2, n2: 2 },
    running: [one('low-1', 'n1', 10), one('very-low', 'n2', 5, { cpu: 2 })],
    wanting: { slots: 3, prio: 100 },
    victims: ['very-low'],
  },
  {
    id: 25,
    nodes: { n1: 2, n2: 2 },
    running: [one('a', 'n1', 10), one('b', 'n1', 10), one('c', 'n2', 10), one('d', 'n2', 10)],
    wanting: { slots: 4, prio: 100 },
    victims: ['a', 'b', 'c', 'd'],
  },
  {
    id: 26,
    nodes: { n1: 3 },
    running: [one('mid-1', 'n1', 500), one('low-1', 'n1', 10), one('low-2', 'n1', 10)],
    wanting: { slots: 3, prio: 100 },
    victims: undefined,
  },
  {
    id: 27,
    nodes: { n1: 3 },
    running: [one('mid-1', 'n1', 50), one('low-1', 'n1', 10), one('low-2', 'n1', 10)],
    wanting: { slots: 2, prio: 100 },
    victims: ['low-1', 'low-2'],
  },
  {
    id: 28,
    nodes: { n1: 3 },
    running: ['a', 'b', 'c'].map((name) => one(name, 'n1', 10, { podGroup: 'pg2' })),
    others: [podGroup('pg2', { prio: 10, mode: 'PodGroup', min: 3 })],
    wanting: { slots: 1, prio: 100 },
    victims: ['a', 'b', 'c'],
  },
  {
    id: 29,
    nodes: { n1: 3 },
    running: ['a', 'b', 'c'].map((name) => one(name, 'n1', 100, { podGroup: 'pg2' })),
    others: [podGroup('pg2', { prio: 10, mode: 'PodGroup', min: 3 })],
    wanting: { slots: 1, prio: 100, podPrio: 10 },
    victims: ['a', 'b', 'c'],
  },
  {
    id: 29.5,
    nodes: { n1: 3 },
    running: ['a', 'b', 'c'].map((name) => one(name, 'n1', 100, { podGroup: 'pg2' })),
    others: [podGroup('pg2', { prio: 100, mode: 'PodGroup', min: 3 })],
    wanting: { slots: 1, prio: 10, podPrio: 10 },
    victims: undefined,
  },
  {
    id: 31,
    nodes: { n1: 4 },
    running: [
      one('very-low-1', 'n1', 5),
      one('very-low-2', 'n1', 5),
      one('low-1', 'n1', 10),
      one('low-2', 'n1', 10),
    ],
    wanting: { slots: 2, prio: 50 },
    victims: ['very-low-1', 'very-low-2'],
  },
];

const cluster = ({ nodes, running, others = [] }: Vector): JsonObject[] => [
  ...Object.entries(nodes).map(([name, cpu]) => node(name, cpu)),
  ...running.map(pod),
  ...others,
];

test('every vector from 1 to 39 is in a test, by its number', () => {
  const texts = ['vectors', 'preemption-state-machine'].map((file) =>
    readFileSync(join(import.meta.dirname, `${file}.test.ts`), 'utf8'),
  );
  const found = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/(?:\bid: |vector |^ {4}\[)(\d+)\b/gm)].map(([, id]) => Number(id)),
    ),
  );
  expect(Array.from({ length: 39 }, (_, index) => index + 1).filter((id) => !found.has(id))).toEqual([]);
});

/** What 1.37 makes of some of them: who is where the gang was placed with nobody there goes; a Pod with another priority than its group keeps all of it out. */
const SINCE_137: ReadonlyMap<number, readonly string[] | undefined> = new Map([
  [5, ['va']],
  [20, undefined],
  [23, ['low-1', 'very-low']],
  [29, undefined],
]);

describe.each(['kube-1.36', 'kube-1.37'] as const)('gangs, as %s preempts for them', (variant) => {
  test.each(VECTORS.map((vector) => [vector.id, vector] as const))('vector %d', (_, vector) => {
    const { slots, prio, podPrio = prio, min = slots } = vector.wanting;
    const wanting = Array.from({ length: slots }, (_, index) => ({
      name: `want-${index}`,
      cpu: 1,
      prio: podPrio,
      podGroup: 'wanting',
      never: vector.never === true && index === 0,
    }));
    const group = podGroup('wanting', { prio, min });
    const isOther = variant === 'kube-1.37' && SINCE_137.has(vector.id);
    expect(victimsFor(wanting, [...cluster(vector), group], variant)).toEqual(
      isOther ? SINCE_137.get(vector.id) : vector.victims,
    );
  });

  test('vector 24: of three Pods the one that no budget protects', () => {
    const running = [
      one('low-1', 'n1', 10, { labels: { app: 'foo' } }),
      one('low-2', 'n1', 10, { labels: { app: 'foo' } }),
      one('low-3', 'n1', 10),
    ];
    const wanting = ['a', 'b'].map((name) => ({ name, cpu: '500m', prio: 100, podGroup: 'p' }));
    const objects = [
      node('n1', 3),
      ...running.map(pod),
      budget('foo', 0),
      podGroup('p', { prio: 100, min: 2 }),
    ];
    expect(victimsFor(wanting, objects, variant)).toEqual(['low-3']);
  });
});

describe.each(['kube-1.36', 'kube-1.37'] as const)('single Pods, as %s preempts for them', (variant) => {
  const [N, S, m, l, xl] = [-100, '100m', '200m', '300m', '500m'];
  const on = (name: string, where: string, cpu: string, prio: number, more: Partial<PodIn> = {}): PodIn => ({
    name,
    on: where,
    cpu,
    prio,
    ...more,
  });
  const find = (want: PodIn, nodes: readonly string[], running: readonly PodIn[], more: JsonObject[] = []) =>
    victimsFor([want], [...nodes.map((name) => node(name, xl)), ...running.map(pod), ...more], variant);
  const highest = (cpu: string): PodIn => ({ name: 'want', cpu, prio: H });

  test.each(['Pod', 'PodGroup'] as const)(
    'vector 30: for 1.36 a Pod goes by priorities of Pods, in a group disrupted by %s, too; since then by its group',
    (mode) => {
      const running = [30, 20, 10].map((prio) => one(`p${prio}`, 'n1', prio, { podGroup: 'pg1' }));
      const objects = [node('n1', 3), ...running.map(pod), podGroup('pg1', { prio: 30, mode })];
      // Of members that cost the same it is the last by name.
      const since = mode === 'Pod' ? ['p30'] : ['p10', 'p20', 'p30'];
      const found = victimsFor([{ name: 'want', cpu: 1, prio: 100 }], objects, variant);
      expect(found).toEqual(variant === 'kube-1.36' ? ['p10'] : since);
    },
  );

  test('vector 32: the smaller Pod of lower priority is spared once the larger one is gone', () => {
    const running = [on('small', 'n1', S, 0), on('large', 'n1', l, M)];
    expect(find(highest(l), ['n1'], running)).toEqual(['large']);
  });

  test('vector 33: what is not below is not touched', () => {
    const running = [
      on('1.1', 'n1', S, M),
      on('1.2', 'n1', S, 0),
      on('1.3', 'n1', m, M),
      on('1.4', 'n1', S, H),
    ];
    expect(find(highest(l), ['n1'], running)).toEqual(['1.2', '1.3']);
  });

  test('vector 34: a budget is broken where nothing else helps, and only for Pods that are not disrupted yet', () => {
    const running = ['a', 'b'].map((name) => on(name, 'n1', m, M, { labels: { app: 'foo' } }));
    const broken = (...disrupted: string[]) =>
      planFor(
        [highest(xl)],
        [node('n1', xl), ...running.map(pod), budget('foo', 1, disrupted)],
        variant,
      ).victims.map(({ unit, violatesBudget }) => `${unit.name} ${violatesBudget ? 'broken' : 'kept'}`);
    expect(broken().sort()).toEqual(['a kept', 'b broken']);
    expect(broken('a').sort()).toEqual(['a kept', 'b kept']);
  });

  const filled = (name: string, prios: readonly number[], starts: readonly number[] = []): PodIn[] =>
    prios.map((prio, index) =>
      on(`${name}-${index}`, name, m, prio, starts[index] === undefined ? {} : { start: starts[index] }),
    );

  test.each([
    [35, { n1: [M, M], n2: [M, 0], n3: [0, 0] }, 'n3'],
    [36, { n1: [M, M], n2: [M, 0], n3: [M, M] }, 'n2'],
  ])('vector %d: the cheapest node', (_, nodes, chosen) => {
    const running = Object.entries(nodes).flatMap(([name, prios]) => filled(name, prios));
    expect(find(highest(xl), Object.keys(nodes), running)).toEqual([`${chosen}-0`, `${chosen}-1`]);
  });

  test('vector 37: fewer victims weigh less, also with negative priorities', () => {
    const small = (name: string, prios: readonly number[]): PodIn[] =>
      prios.map((prio, index) => on(`${name}-${index}`, name, S, prio));
    const running = [...small('n1', [M, N, M, N]), ...small('n2', [M, N]), ...small('n3', [M, N, 0])];
    expect(find(highest(xl), ['n1', 'n2', 'n3'], running)).toEqual(['n2-0', 'n2-1']);
  });

  test('vector 38: the node whose most important victims started last', () => {
    const running = [
      ...filled('n1', [M, M], [4, 2]),
      ...filled('n2', [M, M], [5, 1]),
      ...filled('n3', [M, M], [3, 6]),
    ];
    expect(find(highest(xl), ['n1', 'n2', 'n3'], running)).toEqual(['n3-0', 'n3-1']);
  });
});
