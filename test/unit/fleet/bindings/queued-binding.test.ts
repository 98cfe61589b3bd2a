import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { hasFinished, readQueuedBinding } from '../../../../src/fleet/bindings/queued-binding.ts';

const made = (spec: object, more: { annotations?: object; status?: object; metadata?: object } = {}) =>
  readQueuedBinding({
    metadata: {
      ...{ namespace: 'ml', name: 'train-job', uid: 'u', resourceVersion: '7' },
      ...{ creationTimestamp: '2026-08-21T03:10:00Z', annotations: more.annotations },
      ...more.metadata,
    },
    spec: { resource: { apiVersion: 'batch/v1', kind: 'Job', name: 'train' }, ...spec },
    status: more.status,
  } as unknown as JsonObject);

const IN_QUEUE = { annotations: { 'muster.dev/fleet-queue': 'q' } };
const asked = (binding: ReturnType<typeof made>) => Object.fromEntries(binding.gang?.requests ?? []);

test('what it is', () => {
  expect(
    made({ suspension: { scheduling: true } }, { annotations: { 'muster.dev/fleet-terms': 'unread' } }),
  ).toEqual({
    ...{ namespace: 'ml', name: 'train-job', uid: 'u', resourceVersion: '7', workload: 'batch/v1 Job train' },
    ...{ deleting: false, unread: true, held: true, placed: false, finished: false },
    ...{ gang: undefined, fault: undefined },
  });
  const schedulePriority = { priority: 50 };
  expect(made({ schedulePriority, replicas: 2 }, IN_QUEUE).gang).toMatchObject({
    ...{ key: 'ml/train-job', uid: 'u', queue: 'q', priority: 50, pods: 2 },
    since: Date.parse('2026-08-21T03:10:00Z'),
  });
});

describe('what it asks for', () => {
  const replicaRequirements = { resourceRequest: { cpu: '500m', 'nvidia.com/gpu': 1 } };

  test('of one template', () => {
    expect(asked(made({ replicas: 4, replicaRequirements }, IN_QUEUE))).toEqual({
      cpu: 2_000,
      'nvidia.com/gpu': 4,
    });
  });

  test('in full where it began with less; more where it is copied to several', () => {
    const clusters = (replicas: number) => ({
      clusters: [
        { name: 'm1', replicas },
        { name: 'm2', replicas },
      ],
    });
    expect(asked(made({ replicas: 8, replicaRequirements, ...clusters(3) }, IN_QUEUE))['cpu']).toBe(4_000);
    expect(asked(made({ replicas: 4, replicaRequirements, ...clusters(4) }, IN_QUEUE))['cpu']).toBe(4_000);
  });

  test('of several templates, in each cluster', () => {
    const components = [
      { name: 'a', replicas: 1, replicaRequirements },
      { name: 'b', replicas: 3, replicaRequirements: { resourceRequest: { cpu: '2' } } },
    ];
    expect(asked(made({ components }, IN_QUEUE))).toEqual({ cpu: 6_500, 'nvidia.com/gpu': 1 });
    const clusters = [{ name: 'm1' }, { name: 'm2' }];
    expect(asked(made({ components, clusters }, IN_QUEUE))['cpu']).toBe(13_000);
    expect(made({ components }, IN_QUEUE).gang?.pods).toBe(4);
  });

  test('what cannot be read is told', () => {
    const wrong = { resourceRequest: { cpu: 'many' } };
    expect(made({ replicas: 1, replicaRequirements: wrong }, IN_QUEUE).fault).toBe(
      'spec.replicaRequirements.resourceRequest.cpu: "many" is no quantity; write it as 500m, 2 or 12Gi',
    );
  });
});

describe('at its end', () => {
  const told = (...statuses: unknown[]) => statuses.map((status) => ({ clusterName: 'm', status })) as never;

  test.each([
    [{ conditions: [{ type: 'Complete', status: 'True' }] }],
    [{ conditions: [{ type: 'Failed', status: 'True' }] }],
    [{ state: { phase: 'Completed' } }],
    [{ phase: 'Succeeded' }],
    [{ jobStatus: 'SUCCEEDED' }],
    [{ terminalState: 'Failed' }],
    // As a FlinkDeployment says it, whose lifecycle is stable by then.
    [{ lifecycleState: 'STABLE', jobStatus: { state: 'FINISHED' } }],
    [{ jobStatus: { state: 'CANCELED' } }],
  ])('%j', (status) => expect(hasFinished(told(status), 1)).toBe(true));

  test.each([
    ['runs', told({ state: { phase: 'Running' } }), 1],
    ['its job runs', told({ lifecycleState: 'STABLE', jobStatus: { state: 'RUNNING' } }), 1],
    ['starts again', told({ jobStatus: { state: 'SUSPENDED' } }), 1],
    ['of two one', told({ phase: 'Succeeded' }, { phase: 'Running' }), 2],
    ['one says nothing yet', told({ phase: 'Succeeded' }), 2],
    ['is not placed', told(), 0],
    ['has no status', told(undefined), 1],
    ['is not complete', told({ conditions: [{ type: 'Complete', status: 'False' }] }), 1],
  ])('not yet: %s', (_what, statuses, clusters) => expect(hasFinished(statuses, clusters)).toBe(false));
});
