import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { bindingTermsOf } from '../../../../src/fleet/bindings/terms.ts';
import { workloadKinds } from '../../../../src/workloads/kinds.ts';
import { template, volcanoJob, workload } from '../../workloads/made-workloads.ts';

const QUEUE = 'muster.dev/fleet-queue';
const STRATEGY = 'muster.dev/custom-scheduling-strategy';
const MINIMUM = 'muster.dev/min-available';
const NOTHING = { 'muster.dev/fleet-terms': null, [QUEUE]: null, [STRATEGY]: null, [MINIMUM]: null };

const job = volcanoJob({
  tasks: [
    { name: 'master', template: template({ cpu: '1' }) },
    { name: 'worker', replicas: 4, minAvailable: 2, template: template({ cpu: '1' }) },
  ],
});
const binding = {
  spec: {
    components: [
      { name: 'master', replicas: 1 },
      { name: 'worker', replicas: 4 },
    ],
  },
};
const noting = (object: object, annotations: Record<string, string>): JsonObject => ({
  ...object,
  metadata: { ...(object as { metadata?: object }).metadata, annotations },
});
const read = (sources: { binding?: object; template?: object; policy?: object }) =>
  bindingTermsOf({ binding, template: job, policy: undefined, ...sources } as never, workloadKinds);

describe('what a binding is told', () => {
  test('nothing where nobody says anything but the least of each template', () => {
    expect(read({})).toEqual({ queue: undefined, annotations: { ...NOTHING, [MINIMUM]: 'worker=2' } });
  });

  test('queue and strategy of the policy', () => {
    const policy = noting({}, { [QUEUE]: 'research', [STRATEGY]: 'gang-divided' });
    expect(read({ policy })).toEqual({
      queue: 'research',
      annotations: { ...NOTHING, [QUEUE]: 'research', [STRATEGY]: 'gang-divided', [MINIMUM]: 'worker=2' },
    });
  });

  test('the workload counts before its policy, and an empty annotation for nothing', () => {
    const policy = noting({}, { [QUEUE]: 'research', [STRATEGY]: 'gang-divided', [MINIMUM]: 'worker=1' });
    const own = noting(job, { [QUEUE]: ' urgent ', [STRATEGY]: '', [MINIMUM]: 'worker=3' });
    expect(read({ policy, template: own }).annotations).toEqual({
      ...NOTHING,
      ...{ [QUEUE]: 'urgent', [STRATEGY]: 'gang-divided', [MINIMUM]: 'worker=3' },
    });
  });

  test('the strategy that a policy has in its own field, where its definition has one', () => {
    const replicaScheduling = { customSchedulingStrategy: 'gang-no-divided' };
    expect(read({ policy: { spec: { placement: { replicaScheduling } } } }).annotations[STRATEGY]).toBe(
      'gang-no-divided',
    );
  });

  test.each([
    ['one template', { replicas: 8 }, { parallelism: 8 }, null],
    ['a template of a kind that nobody knows', { replicas: 8 }, undefined, null],
  ])('no minimum: %s', (_what, spec, jobSpec, expected) => {
    const object =
      jobSpec === undefined
        ? workload('example.com/v1', 'Unknown', {})
        : workload('batch/v1', 'Job', { ...jobSpec, template: template({ cpu: '1' }) });
    expect(read({ binding: { spec }, template: object }).annotations[MINIMUM]).toBe(expected);
  });

  test('the minimum of one template is a number', () => {
    const one = volcanoJob({
      tasks: [{ name: 'worker', replicas: 8, minAvailable: 5, template: template({}) }],
    });
    expect(read({ binding: { spec: { replicas: 8 } }, template: one }).annotations[MINIMUM]).toBe('5');
  });

  test('a minimum of 0 is one: of a template that a job can run without, and of workers that scale by themselves', () => {
    const task = (name: string, replicas: number) => ({ name, replicas, template: template({ cpu: '1' }) });
    const tasks = [task('master', 1), task('worker', 4), task('eval', 8)];
    const sized = volcanoJob({ minAvailable: 3, tasks });
    const components = tasks.map(({ name, replicas }) => ({ name, replicas }));
    expect(read({ binding: { spec: { components } }, template: sized }).annotations[MINIMUM]).toBe(
      'worker=2,eval=0',
    );
    const ray = workload('ray.io/v1', 'RayCluster', {
      enableInTreeAutoscaling: true,
      headGroupSpec: { template: template({ cpu: '1' }) },
      workerGroupSpecs: [
        { groupName: 'gpu', replicas: 4, minReplicas: 0, maxReplicas: 8, template: template({}) },
      ],
    });
    const groups = [
      { name: 'ray-head', replicas: 1 },
      { name: 'gpu', replicas: 4 },
    ];
    expect(read({ binding: { spec: { components: groups } }, template: ray }).annotations[MINIMUM]).toBe(
      'gpu=0',
    );
    const one = volcanoJob({
      tasks: [{ name: 'worker', replicas: 8, minAvailable: 0, template: template({}) }],
    });
    expect(read({ binding: { spec: { replicas: 8 } }, template: one }).annotations[MINIMUM]).toBe('0');
  });

  test('no minimum of a template that Karmada knows by another name, or of which it knows the minimum only', () => {
    const components = [
      { name: 'task-0', replicas: 1 },
      { name: 'worker', replicas: 2 },
    ];
    expect(read({ binding: { spec: { components } } }).annotations[MINIMUM]).toBeNull();
  });
});
