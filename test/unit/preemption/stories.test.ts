/** The user stories of KEP-5710, with PodGangs. Those that kube-scheduler 1.36 knows are played with it, too (test/cluster/plan). */
import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { node, pod, podGang, priorityClass, victimsFor, type PodIn } from './small-cluster.ts';

const CLASSES = [priorityClass('low', 10), priorityClass('mid', 50), priorityClass('high', 100)];
const want: PodIn = { name: 'want', cpu: 1, prio: 100, gang: 'new' };
const wanting = podGang('new', { className: 'high' });
const NODES = [node('n1', 3), node('n2', 3)];

/** Two gangs of three Pods each, on both nodes. */
const gangs = (
  mode: 'Pod' | 'PodGroup',
  costs: Readonly<Record<'a' | 'b', string | undefined>>,
): JsonObject[] =>
  (['a', 'b'] as const).flatMap((gang, at) => {
    const cost = costs[gang];
    return [
      podGang(gang, {
        className: 'low',
        mode,
        groups: { worker: 3 },
        ...(cost === undefined ? {} : { cost }),
      }),
      ...[0, 1, 2].map((index) =>
        pod({
          name: `${gang}-${index}`,
          on: (index + at) % 2 === 0 ? 'n1' : 'n2',
          cpu: 1,
          prio: 10,
          gang,
          start: at * 10 + index,
        }),
      ),
    ];
  });

const victims = (mode: 'Pod' | 'PodGroup', costs: { a?: string; b?: string } = {}) =>
  victimsFor([want], [...CLASSES, wanting, ...NODES, ...gangs(mode, { a: costs.a, b: costs.b })], 'kep');

test('a training job, or one replica of multihost inference, goes as a whole', () => {
  expect(victims('PodGroup')).toEqual(['b-0', 'b-1', 'b-2']);
});

test('what may run degraded loses one worker', () => {
  expect(victims('Pod')).toHaveLength(1);
});

test('the cost of preemption changes while a job runs: just after a checkpoint it is the one to go', () => {
  // b has worked for hours since its last checkpoint.
  expect(victims('PodGroup', { b: 'mid' })).toEqual(['a-0', 'a-1', 'a-2']);
  // It has written one, and a has not for a while.
  expect(victims('PodGroup', { a: 'mid' })).toEqual(['b-0', 'b-1', 'b-2']);
  // Both are as dear as whoever wants room.
  expect(victims('PodGroup', { a: 'high', b: 'high' })).toBeUndefined();
});
