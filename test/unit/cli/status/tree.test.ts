import type { PodRecord } from '../../../../src/gang/records.ts';
import { expect, test } from '@jest/globals';
import { treeLines } from '../../../../src/cli/status/view.ts';
import { widthOf } from '../../../../src/cli/status/table.ts';
import { bound, FULL, gang, group, INITIALIZED, NOW, pod, printed, running, statusOf } from './gangs.ts';

const lines = (status: ReturnType<typeof statusOf>, width = 100): string[] =>
  printed(treeLines(status, { now: NOW, width }));

const UNSCHEDULABLE = {
  status: 'False',
  reason: 'Unschedulable',
  message:
    '0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.',
};

test('a gang that waits for a group', () => {
  expect(lines(statusOf([gang()], [pod('workers-0')]))).toEqual([
    'ml/train  Pending  (default)  2m',
    'waiting for Pods: leader 0/1, workers 1/2',
    '├─ leader  0/1 Pods, minimum 1',
    '└─ workers  1/2 Pods, minimum 2: 1 gated',
    '     workers-0  gated  waiting for Pods: leader 0/1, workers 1/2',
  ]);
});

test('what the planner says of it, where it was asked', () => {
  const plan = 'plan: would fit if 3 Pods of gang batch/old (priority 10) made room; nothing else is touched';
  expect(lines({ ...statusOf([gang()], [pod('workers-0')]), plan }, 60).slice(0, 4)).toEqual([
    'ml/train  Pending  (default)  2m',
    'waiting for Pods: leader 0/1, workers 1/2',
    'plan: would fit if 3 Pods of gang batch/old (priority 10)',
    'made room; nothing else is touched',
  ]);
});

test('what the scheduler says is said once for all Pods, and in full', () => {
  const pods = [
    running('leader-0'),
    pod('workers-0', { gates: [], podScheduled: UNSCHEDULABLE }),
    bound('workers-1'),
    pod('workers-2', { gates: ['example.com/quota'] }),
    pod('workers-10', { gates: [], podScheduled: UNSCHEDULABLE }),
    pod('workers-11', { gates: [] }),
  ];
  expect(lines(statusOf([gang({ groups: FULL, conditions: [INITIALIZED] })], pods))).toEqual([
    'ml/train  Starting  (default)  2m',
    'bound workers 1/2; the scheduler says of workers-0: 0/3 nodes are available: 3 Insufficient',
    'nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.',
    '├─ leader  1/1 Pods, minimum 1: 1 referenced, 1 bound, 1 ready',
    '│    leader-0  running  on node-1',
    '└─ workers  5/2 Pods, minimum 2: 2 referenced, 1 bound',
    '     workers-0   pending',
    '     workers-10  pending',
    '       the scheduler says: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3',
    '       nodes are available: 3 No preemption victims found for incoming pod.',
    '     workers-1   starting  on node node-1, not ready yet',
    '     workers-2   foreign   held by another gate: "example.com/quota"',
    '     workers-11  pending   waiting for the scheduler',
  ]);
});

test('Pods that are over, or about to be', () => {
  const deletionTimestamp = '2026-06-01T11:59:59Z';
  const pods = [
    running('leader-0'),
    bound('workers-0', { phase: 'Failed' }),
    bound('workers-1', { phase: 'Succeeded' }),
    bound('workers-2', { deletionTimestamp }),
  ];
  expect(lines(statusOf([gang({ groups: FULL, conditions: [INITIALIZED] })], pods)).slice(5)).toEqual([
    '└─ workers  1/2 Pods, minimum 2: 2 referenced, 1 bound, 1 ready',
    '     workers-0  failed       on node-1',
    '     workers-1  succeeded    on node-1',
    '     workers-2  terminating  on node-1',
  ]);
});

test('a Pod that only the loop keeps waiting is no running one', () => {
  const one = gang({ groups: [group('leader', 1, 'leader-0')], conditions: [INITIALIZED] });
  expect(lines(statusOf([one], [pod('leader-0')])).slice(2)).toEqual([
    '└─ leader  1/1 Pods, minimum 1: 1 referenced, 1 gated',
    '     leader-0  gated',
    '       nothing is missing: the loop is about to take its gate off (if this stays, no loop runs)',
  ]);
});

test('a Pod beyond the minimums may have to wait while one of them is not bound', () => {
  const groups = [group('leader', 1, 'leader-0'), group('workers', 1, 'workers-0', 'workers-1')];
  const pods = [pod('leader-0', { gates: [] }), bound('workers-0'), pod('workers-1')];
  const said = lines(statusOf([gang({ groups, conditions: [INITIALIZED] })], pods));
  expect(said.slice(said.findIndex((line) => line.includes('workers-1 ')))).toEqual([
    '     workers-1  gated',
    '       comes after the minimum of every group: bound leader 0/1, where the scheduler counts all',
    '       groups together; else nothing is missing: the loop is about to take its gate off (if this',
    '       stays, no loop runs)',
  ]);
});

test('Pods in a group that is not there, and the PodGang missing altogether', () => {
  const lost = pod('lost-0', { group: 'nobody', gates: [] });
  expect(lines(statusOf([gang({ groups: [group('leader', 1)] })], [lost])).slice(2)).toEqual([
    '├─ leader  0/1 Pods, minimum 1',
    '└─ in no group of the gang',
    '     lost-0  pending',
  ]);
  expect(lines(statusOf([], [lost]))).toEqual([
    'ml/train',
    'PodGang train does not exist',
    '└─ Pods that name it',
    '     lost-0  pending',
  ]);
});

test.each([200, 100, 50, 20, 1])('no line is wider than %d', (width) => {
  const pods = [pod('workers-0', { gates: [], podScheduled: UNSCHEDULABLE }), pod('leader-0')];
  const all = lines(statusOf([gang({ groups: FULL, conditions: [INITIALIZED] })], pods), width);
  expect(Math.max(...all.map(widthOf))).toBeLessThanOrEqual(width);
});

test('the workload that a gang was made for', () => {
  const made = { ...gang(), annotations: new Map([['muster.dev/workload', 'job/train']]) };
  expect(lines(statusOf([made], []))[0]).toBe('ml/train  Pending  (default)  2m  job/train');
});

test('without the configuration the Pods of a workload that only it tells of are taken for its own', () => {
  const annotations = (workload: string): ReadonlyMap<string, string> =>
    new Map([
      ['muster.dev/workload', workload],
      ['muster.dev/workload-uid', 'u'],
    ]);
  const controlled = (name: string, uid: string): PodRecord['origin'] => {
    const controller = { apiVersion: 'example.com/v1', kind: 'Trainer', name, uid };
    return { kind: '', name, uid, part: undefined, controller, size: undefined };
  };
  const reason = (workload: string, origin: PodRecord['origin']): string | undefined =>
    statusOf(
      [{ ...gang(), annotations: annotations(workload) }],
      [pod('leader-0', { group: 'leader', origin })],
      ['ml', 'train'],
    ).pods[0]?.reason;
  const strange = 'PodGang train was made for';
  expect(reason('trainer/train', controlled('train', 'u'))).not.toContain(strange);
  expect(reason('trainer/train', controlled('train', 'v'))).toContain(strange);
  expect(reason('trainer/train', controlled('other', 'u'))).toContain(strange);
  expect(reason('trainer/train', undefined)).toContain(strange);
});
