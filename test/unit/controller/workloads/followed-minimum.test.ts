/** The minimum of a group whose Pods succeed one after the other, where the workload counts none of them. */
import { describe, expect, test } from '@jest/globals';
import { followed } from '../../../../src/controller/workloads/followed-minimum.ts';
import type { PodRecord } from '../../../../src/gang/records.ts';
import { gangKindOf } from '../../../../src/workloads/kinds.ts';
import { gangNumbers, type GroupNumbers } from '../../../../src/workloads/gang-numbers.ts';
import { pod, running } from '../../gang/plan/gang-states.ts';

const workers: GroupNumbers = { name: 'workers', replicas: 4, minReplicas: 4, left: 4 };
const done = (...names: string[]): PodRecord[] =>
  names.map((name) => ({ ...running(name), phase: 'Succeeded' }));
const next = (pods: readonly PodRecord[], group: Partial<GroupNumbers> = {}, now = 4): GroupNumbers =>
  followed({ ...workers, ...group }, now, { pods, countsItself: false });

describe('a Pod that is tried again when the others have succeeded', () => {
  const others = done('workers-0', 'workers-1', 'workers-2');

  test('is what is left, and the group has as many Pods as before', () => {
    expect(next([...others, pod('workers-3')])).toMatchObject({ minReplicas: 1, replicas: 4 });
    expect(next([...others, pod('workers-3', { gates: [] })])).toMatchObject({ minReplicas: 1 });
  });

  test('costs no write while it has a node', () => {
    expect(next([...others, running('workers-3')])).toMatchObject({ minReplicas: 4 });
  });

  test('is one of all, where the others are of an attempt before', () => {
    const before = others.map((one) => ({ ...one, attempt: '0' }));
    expect(next([...before, { ...pod('workers-3'), attempt: '1' }])).toMatchObject({ minReplicas: 4 });
    // What was lowered is raised again for the next attempt.
    expect(next([{ ...pod('workers-3'), attempt: '1' }], {}, 1)).toMatchObject({ minReplicas: 4 });
  });

  test('is counted beside those that have work to do, however many have succeeded', () => {
    const more = done('workers-4', 'workers-5');
    const pods = [...others, ...more, running('workers-6'), pod('workers-7')];
    expect(next(pods)).toMatchObject({ minReplicas: 2 });
  });
});

test('a group of which all have succeeded asks for none beside another that waits', () => {
  const leader: GroupNumbers = { name: 'leader', replicas: 1, minReplicas: 1, left: 1 };
  const pods = [...done('leader-0'), pod('workers-0')];
  expect(followed(leader, 1, { pods, countsItself: false })).toMatchObject({ minReplicas: 0, replicas: 1 });
});

test('a replicated job of more completions than run at a time goes on until its last', () => {
  const kind = gangKindOf('jobset');
  if (kind === undefined) throw new Error('there is no kind jobset');
  const job = { replicas: 2, template: { spec: { parallelism: 3, completions: 7 } } };
  const numbers = gangNumbers(
    {
      spec: {
        replicatedJobs: [
          { name: 'leader', template: { spec: {} } },
          { name: 'workers', ...job },
        ],
      },
    },
    kind,
  );
  expect(numbers.groups).toEqual([
    { name: 'leader', replicas: 1, minReplicas: 1, left: 1, completions: 1, each: 1 },
    { name: 'workers', replicas: 6, minReplicas: 6, left: 6, completions: 14, each: 3 },
  ]);
  const [, group] = numbers.groups;
  const ends = (count: number): PodRecord[] =>
    done(...Array.from({ length: count }, (_, at) => `workers-${at}`));
  const waits = pod('workers-20');
  expect(group && next([...ends(3), waits], group, 6).minReplicas).toBe(6);
  expect(group && next([...ends(12), running('workers-19'), waits], group, 6).minReplicas).toBe(2);
});
