/** MultiGetReplicas and MultiReviseReplica as the proposal for several templates has them, case by case (S1 to S8). */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { multiGetReplicas, multiReviseReplica } from '../../../src/index.ts';
import { workloadKinds } from '../../../src/workloads/kinds.ts';
import type { WorkloadKind } from '../../../src/workloads/workload-kind.ts';
import { deployment, template, volcanoJob, workload } from '../workloads/made-workloads.ts';

const tasks = volcanoJob({
  queue: 'default',
  tasks: [
    { name: 'task1', replicas: 3, template: template({ cpu: '1' }), policies: [{ event: 'PodEvicted' }] },
    { name: 'task2', replicas: 2, template: template({ cpu: '2' }) },
  ],
});
const countsOf = (object: JsonObject, kinds?: readonly WorkloadKind[]): (string | number)[][] =>
  multiGetReplicas(object, kinds).map(({ name, replicas, minAvailable }) => [name, replicas, minAvailable]);

describe('MultiGetReplicas', () => {
  test('S2: name, number and requirement of each template, in their order', () => {
    expect(multiGetReplicas(tasks)).toEqual([
      { name: 'task1', replicas: 3, minAvailable: 3, requirements: { resourceRequest: { cpu: '1' } } },
      { name: 'task2', replicas: 2, minAvailable: 2, requirements: { resourceRequest: { cpu: '2' } } },
    ]);
  });

  test('S4: a workload with one template gives one element, with a name though its template has none', () => {
    expect(countsOf(deployment({ replicas: 2, template: template() }))).toEqual([['main', 2, 2]]);
    const named = { metadata: { name: 'web' }, ...template() };
    expect(countsOf(deployment({ replicas: 2, template: named }))).toEqual([['web', 2, 2]]);
    expect(countsOf(deployment({ replicas: 2 }))).toEqual([['main', 2, 2]]);
  });

  const job = workloadKinds.find(
    ({ group, kind }) => group === 'batch.volcano.sh' && kind === 'Job',
  ) as WorkloadKind;
  const first: WorkloadKind['single'] = (object, reading) => {
    const [one] = job.templates?.(object, reading) ?? [];
    if (one === undefined) throw new Error('no task');
    return one;
  };

  test('S1, S5: where only the one template is told of, that is the result; where both are, each by itself', () => {
    const { templates, ...single } = { ...job, single: first };
    expect(templates).toBeDefined();
    expect(countsOf(tasks, [single])).toEqual([['task1', 3, 3]]);
    expect(countsOf(tasks, [{ ...job, single: first }])).toEqual([
      ['task1', 3, 3],
      ['task2', 2, 2],
    ]);
    const revised = multiReviseReplica(tasks, [{ templateName: 'task1', replicas: 5 }], [single]);
    expect(countsOf(revised)).toEqual([
      ['task1', 5, 5],
      ['task2', 2, 2],
    ]);
  });

  test('S8: a minimum is never told as the number, or what is above it could never be placed', () => {
    const object = volcanoJob({ minAvailable: 3, tasks: [{ name: 'w', replicas: 8, minAvailable: 3 }] });
    expect(countsOf(object)).toEqual([['w', 8, 3]]);
  });
});

test.each(['PyTorchJob.kubeflow.org', 'Job.batch.volcano.sh'])(
  '%s without a spec is none that has no Pods',
  (named) => {
    const [kind = '', ...group] = named.split('.');
    const version = kind === 'Job' ? 'v1alpha1' : 'v1';
    const object = { apiVersion: `${group.join('.')}/${version}`, kind, metadata: { name: 'train' } };
    expect(() => multiGetReplicas(object)).toThrow(`spec: is missing, and with it the Pods of the ${kind}`);
  },
);

describe('MultiReviseReplica', () => {
  test('S3: the numbers that are named, and nothing else; a name that is not there changes nothing', () => {
    const before = JSON.stringify(tasks);
    const revised = multiReviseReplica(tasks, [
      { templateName: 'task1', replicas: 5 },
      { templateName: 'task2', replicas: 4 },
      { templateName: 'task3', replicas: 9 },
    ]);
    const wanted = JSON.parse(before) as { spec: { tasks: { replicas: number }[] } };
    Object.assign(wanted.spec.tasks[0] ?? {}, { replicas: 5 });
    Object.assign(wanted.spec.tasks[1] ?? {}, { replicas: 4 });
    expect(revised).toEqual(wanted);
    expect(JSON.stringify(tasks)).toBe(before);
  });

  test('a minimum comes down with the number, that of the whole as well', () => {
    const object = volcanoJob({
      minAvailable: 7,
      tasks: [
        { name: 'm', replicas: 1, minAvailable: 1 },
        { name: 'w', replicas: 8, minAvailable: 6 },
      ],
    });
    const revised = multiReviseReplica(object, [{ templateName: 'w', replicas: 4 }]);
    expect(revised['spec']).toEqual({
      minAvailable: 5,
      tasks: [
        { name: 'm', replicas: 1, minAvailable: 1 },
        { name: 'w', replicas: 4, minAvailable: 4 },
      ],
    });
  });

  test('Pods that come several at a time', () => {
    const set = workload('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', {
      replicas: 2,
      leaderWorkerTemplate: { size: 4, workerTemplate: template() },
    });
    const to = (leader: number, worker: number): JsonObject =>
      multiReviseReplica(set, [
        { templateName: 'leader', replicas: leader },
        { templateName: 'worker', replicas: worker },
      ]);
    expect(to(3, 9)).toMatchObject({ spec: { replicas: 3 } });
    expect(() => to(2, 7)).toThrow(/"worker" cannot have 7 Pods instead of 6: they come 3 at a time/);
    expect(() => to(3, 12)).toThrow(/"worker" cannot have 12 .*spec\.replicas cannot be both 3 and 4/);
  });

  test('what cannot be is refused by name', () => {
    const to = (object: JsonObject, templateName: string, replicas: number) => () =>
      multiReviseReplica(object, [{ templateName, replicas }]);
    expect(to(tasks, 'task1', -1)).toThrow(
      '"task1" cannot have -1 Pods instead of 3: that is no number of Pods',
    );
    expect(to(tasks, 'task1', 1e10)).toThrow(/that is no number of Pods/);
    const ray = workload('ray.io/v1', 'RayCluster', { headGroupSpec: { template: template() } });
    expect(to(ray, 'ray-head', 2)).toThrow(
      '"ray-head" cannot have 2 Pods instead of 1: no field says how many',
    );
    expect(to(ray, 'ray-head', 1)()).toEqual(ray);
    // Of who is not told by a compiler.
    for (const wrong of [null, { templateName: 'task1', replicas: 1 }, [null]])
      expect(() => multiReviseReplica(tasks, wrong as never)).toThrow(/are no list of objects/);
    expect(() => multiReviseReplica(tasks, [{ templateName: 'task1' }] as never)).toThrow(
      /"task1" cannot have NaN Pods instead of 3: that is no number of Pods/,
    );
  });

  test('what was asked for is what is there afterwards, whatever the workload', () => {
    const task = fc.record({
      replicas: fc.nat(20),
      minAvailable: fc.option(fc.nat(20), { nil: undefined }),
    });
    const job = fc.array(task, { maxLength: 5 }).map((list) =>
      volcanoJob({
        tasks: list.map(({ replicas, minAvailable }, index) => ({
          name: `t${index}`,
          replicas,
          ...(minAvailable === undefined ? {} : { minAvailable: Math.min(minAvailable, replicas) }),
        })),
      }),
    );
    fc.assert(
      fc.property(job, fc.array(fc.nat(30), { maxLength: 5 }), (object, numbers) => {
        const revisions = numbers.map((replicas, index) => ({ templateName: `t${index}`, replicas }));
        const before = multiGetReplicas(object);
        const after = multiGetReplicas(multiReviseReplica(object, revisions));
        expect(after.map(({ replicas }) => replicas)).toEqual(
          before.map((one, index) => numbers[index] ?? one.replicas),
        );
        for (const { replicas, minAvailable } of after) expect(minAvailable).toBeLessThanOrEqual(replicas);
        expect(multiReviseReplica(object, [])).toEqual(object);
      }),
    );
  });
});
