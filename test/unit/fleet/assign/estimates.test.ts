/** What somebody who sees the nodes of a cluster says of its room, as an input of the decision. */
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { assign } from '../../../../src/fleet/assign/assign.ts';
import { readBinding } from '../../../../src/fleet/assign/binding.ts';
import type { Estimate } from '../../../../src/fleet/assign/candidate.ts';
import { estimatesOf, roomQuestions } from '../../../../src/fleet/assign/estimates.ts';
import { builtInStrategies } from '../../../../src/fleet/assign/strategies.ts';
import {
  AGGREGATED,
  binding,
  bindingOf,
  cluster,
  divided,
  had,
  memberOf,
  read,
  room,
  rooms,
  shown,
} from './small-fleet.ts';

const strategies = builtInStrategies();
const gang = (strategy: string, least: number | string) => ({
  annotations: {
    'muster.dev/custom-scheduling-strategy': strategy,
    'muster.dev/min-available': String(least),
  },
});
const ONE_CLUSTER = { spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }] };
const part = (name: string, replicas: number, cpu: number) => ({
  name,
  replicas,
  replicaRequirements: { resourceRequest: { cpu: String(cpu) } },
});
const COMPONENTS = { replicaRequirements: null, components: [part('master', 1, 1), part('worker', 4, 8)] };

const questions = (object: JsonObject, clusters: readonly JsonObject[]) => {
  const found = read(object, readBinding);
  const plugin = strategies.pluginOf(found.strategy);
  if (plugin === undefined) throw new Error('no such strategy');
  return roomQuestions(found, clusters.map(memberOf), plugin);
};
const asked = (object: JsonObject, clusters: readonly JsonObject[]): string[] =>
  questions(object, clusters).map(
    ({ cluster: name, about, unit, templates }) =>
      `${name} ${about} ${unit} ${templates.map((one) => `${one.name}:${one.replicas}`).join(' ')}`,
  );
const decided = (
  object: JsonObject,
  clusters: readonly JsonObject[],
  estimates: Readonly<Record<string, Estimate>>,
) =>
  assign(read(object, readBinding), clusters.map(memberOf), strategies, new Map(Object.entries(estimates)));

describe('who is asked, and what', () => {
  test.each([
    ['one template', binding({ replicas: 4, placement: AGGREGATED }), ['m1 room replicas :4']],
    ['all of it goes everywhere', binding({ replicas: 4, placement: {} }), []],
    [
      'all of it goes to a few, by their room',
      binding({ replicas: 4, placement: ONE_CLUSTER }),
      ['m1 room replicas :4'],
    ],
    ['no workload', binding({ replicaRequirements: null, placement: AGGREGATED }), []],
    ['a gang', binding({ replicas: 4 }, gang('gang-divided', 2)), ['m1 room replicas :4']],
    [
      'several templates by default',
      binding({ ...COMPONENTS, placement: { ...AGGREGATED, ...ONE_CLUSTER } }),
      ['m1 room sets master:1 worker:4'],
    ],
    [
      'a gang of several templates: whether its least fits, and whether all of it does',
      binding(COMPONENTS, gang('gang-divided', 'worker=2')),
      ['m1 room sets master:1 worker:2', 'm1 whole sets master:1 worker:4'],
    ],
    [
      'a gang that runs: what is more than it has',
      binding(
        {
          ...COMPONENTS,
          clusters: [{ name: 'm1', components: [part('master', 1, 1), part('worker', 3, 8)] }],
        },
        gang('gang-divided', 'worker=2'),
      ),
      ['m1 whole sets worker:1'],
    ],
  ])('%s', (_, object, expected) => expect(asked(object, [room('m1', 100)])).toEqual(expected));

  test('only clusters that it may go to, and that have room by their own word', () => {
    const object = binding({
      replicas: 2,
      placement: { ...AGGREGATED, clusterAffinity: { exclude: ['m3'] } },
    });
    expect(asked(object, rooms(5, 0, 5))).toEqual(['m1 room replicas :2']);
  });

  test('with what a node must be, and the class of priority', () => {
    const nodeClaim = { nodeSelector: { disk: 'ssd' } };
    const needs = { nodeClaim, priorityClassName: 'high' };
    const one = { resourceRequest: { cpu: '1' }, ...needs };
    const single = binding({ replicas: 2, placement: AGGREGATED, replicaRequirements: one });
    const [question] = questions(single, rooms(5));
    expect(question?.templates[0]?.needs).toEqual(needs);
    const several = bindingOf({
      replicaRequirements: null,
      components: [{ name: 'a', replicas: 1, replicaRequirements: one }],
    });
    expect(several.components[0]?.needs).toEqual(needs);
    expect(bindingOf({ replicaRequirements: { priorityClassName: 'high' } }).needs).toEqual({
      priorityClassName: 'high',
    });
  });
});

describe('the least of both counts', () => {
  test.each([
    ['gang-divided', { m1: { room: 2 }, m2: { room: 3 } }, 'm1:2 m2:3'],
    ['gang-divided', { m1: { room: 99 }, m2: { room: 0 } }, 'm1:6'],
    ['gang-no-divided', { m2: { room: 5 } }, 'm1:6'],
    ['gang-no-divided', { m1: { room: 4 }, m2: { room: 5 } }, 'm2:5'],
    [
      'gang-divided',
      { m1: { room: 1 }, m2: { room: 1 } },
      'Unschedulable: failed to assign replicas: no available scheduling results: the clusters hold 2 replicas together, of which 4 are needed at least',
    ],
  ])('%s with %j', (strategy, estimates, expected) =>
    expect(shown(decided(binding({ replicas: 8 }, gang(strategy, 4)), rooms(6, 8), estimates))).toBe(
      expected,
    ),
  );

  test('by default, too', () => {
    const object = binding({ replicas: 6, placement: divided('Aggregated') });
    expect(shown(decided(object, rooms(6, 8), {}))).toBe('m2:6');
    expect(shown(decided(object, rooms(6, 8), { m2: { room: 2 } }))).toBe('m1:6');
  });

  test('several templates go to where all of them fit, else to where the least does, and nowhere where not even that does', () => {
    const object = binding(COMPONENTS, gang('gang-divided', 'worker=2'));
    const clusters = [cluster('m1', { cpu: 40, pods: 100 }), cluster('m2', { cpu: 28, pods: 100 })];
    const placed = (estimates: Readonly<Record<string, Estimate>>): unknown => {
      const { clusters: to, message } = decided(object, clusters, estimates);
      return to.map(({ name, components }) => [
        name,
        components?.at(-1)?.replicas,
        Number(/worker (\d+) and not for all/.exec(message)?.[1] ?? 4),
      ]);
    };
    expect(placed({})).toEqual([['m1', 4, 4]]);
    expect(placed({ m1: { room: 1, whole: true } })).toEqual([['m1', 4, 4]]);
    expect(placed({ m1: { room: 1, whole: false } })).toEqual([['m2', 4, 3]]);
    expect(placed({ m1: { room: 1, whole: false }, m2: { room: 0, whole: false } })).toEqual([['m1', 4, 2]]);
    expect(placed({ m1: { room: 0 }, m2: { room: 0 } })).toEqual([]);
  });

  test('what runs of it stays where it is though no more fits there, and counts as sent whole', () => {
    const clusters = [{ name: 'm1', components: [part('master', 1, 1), part('worker', 3, 8)] }];
    const object = binding({ ...COMPONENTS, clusters }, gang('gang-divided', 'worker=2'));
    const fleet = ['m1', 'm2'].map((name) => cluster(name, { cpu: 90, pods: 100 }));
    const { clusters: to, message } = decided(object, fleet, {
      m1: { room: Number.POSITIVE_INFINITY, whole: false },
    });
    expect(to.map(({ name, components }) => [name, components?.at(-1)?.replicas])).toEqual([['m1', 4]]);
    expect(message).toContain('"m1" had room for master 1, worker 3 and not for all (master 1, worker 4)');
  });

  test('what it runs with counts beside what an estimator says is free', () => {
    const object = binding({ replicas: 8, clusters: had({ m1: 3 }) }, gang('gang-no-divided', 2));
    expect(shown(decided(object, rooms(9), { m1: { room: 2 } }))).toBe('m1:5');
  });
});

describe('what comes of answers', () => {
  const object = binding(COMPONENTS, gang('gang-divided', 'worker=2'));
  const clusters = rooms(100, 100);
  const none = () => ({ room: 0, some: false });

  test('by cluster; who does not know is not in it', () => {
    const found = estimatesOf(questions(object, clusters), [3, 1, undefined, 0], none);
    expect([...found]).toEqual([
      ['m1', { room: 3, whole: true }],
      ['m2', { room: Number.POSITIVE_INFINITY, whole: false }],
    ]);
  });

  test('less what is on its way there, as the estimator does not see it', () => {
    const taken = (name: string) => (name === 'm1' ? { room: 2, some: true } : { room: 9, some: true });
    const found = estimatesOf(questions(object, clusters), [3, 1, 4, 1], taken);
    expect([...found]).toEqual([
      ['m1', { room: 1, whole: false }],
      ['m2', { room: 0, whole: false }],
    ]);
  });
});

test('a cluster whose estimator finds no room is said to be full by that', () => {
  const { leftOut } = decided(binding({ replicas: 8 }, gang('gang-divided', 4)), rooms(8, 8), {
    m1: { room: 0 },
  });
  expect(leftOut).toEqual([{ name: 'm1', why: 'has no room: its estimator finds none' }]);
});
