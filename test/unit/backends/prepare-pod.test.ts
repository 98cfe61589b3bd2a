import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { podGroupName } from '../../../src/backends/kai/names.ts';
import { gangPod, gates } from '../../support/pods.ts';
import { mutatePod, operationsOf } from '../../support/reviews.ts';
import { patched } from '../../support/rfc6902.ts';

const OURS = 'grove.io/podgang-pending-creation';
const on = (name: string): JsonObject => ({ 'grove.io/scheduler-name': name });
const prepared = (object: JsonObject, namespace = 'ml'): JsonObject => {
  const decision = mutatePod({ object, namespace });
  expect(decision.faults).toEqual([]);
  return patched(object, operationsOf(decision));
};

/** The vectors of the Grove operator's own tests, with the names that are safe across namespaces. */
describe('kai-scheduler', () => {
  const object = gangPod({
    labels: { ...on('kai-scheduler'), keep: 'me' },
    annotations: { keep: 'me', 'kai.scheduler/skip-podgrouper': 'custom' },
    spec: { schedulerName: 'default-scheduler', priorityClassName: 'high' },
  });

  test('gets its name, the PodGroup, the sub-group and the document’s annotations; the rest is kept', () => {
    expect(prepared(object)).toEqual({
      ...object,
      metadata: {
        name: 'worker-0',
        namespace: 'ml',
        labels: {
          'grove.io/podgang': 'train',
          'grove.io/podclique': 'worker',
          'grove.io/scheduler-name': 'kai-scheduler',
          keep: 'me',
          'kai.scheduler/subgroup-name': 'worker',
        },
        annotations: {
          keep: 'me',
          'kai.scheduler/skip-podgrouper': 'true',
          'kai.scheduler/podgang': 'train',
          'kai.scheduler/podgroup': 'worker',
          'pod-group-name': 'ml.train',
        },
      },
      spec: {
        schedulerName: 'kai-scheduler',
        containers: [{ name: 'main', image: 'busybox' }],
        priorityClassName: 'high',
        schedulingGates: gates(OURS),
      },
    });
  });

  test('finds the same group for the same name in two namespaces never', () => {
    const [one, other] = ['ml', 'web'].map(
      (namespace) => (prepared(object, namespace)['metadata'] as JsonObject)['annotations'] as JsonObject,
    );
    expect([one?.['pod-group-name'], other?.['pod-group-name']]).toEqual(['ml.train', 'web.train']);
    // A namespace has no dot, so the first one parts the two, whatever dots the gang has.
    expect(podGroupName('a', 'b.c')).toBe('a.b.c');
  });

  test('says why, for people', () => {
    expect(mutatePod({ object }).changes.map(({ why }) => why)).toEqual([
      'the gang is served by KAI',
      'the Pod waits until its gang is complete',
      'its gang, for people',
      'its group, for people',
      'KAI must not group it by its owner',
      'the PodGroup it joins, unique in the cluster',
      'the sub-group it counts for',
    ]);
  });
});

describe('default-scheduler', () => {
  test('gets its name and nothing else', () => {
    const object = gangPod({ spec: { schedulerName: undefined } });
    expect(prepared(object)).toEqual({
      ...object,
      spec: {
        ...(object['spec'] as JsonObject),
        schedulerName: 'default-scheduler',
        schedulingGates: gates(OURS),
      },
    });
  });

  test('keeps gates and claims of others', () => {
    const spec = { schedulingGates: gates('example.com/quota'), resourceClaims: [{ name: 'gpu' }] };
    expect(prepared(gangPod({ spec }))['spec']).toMatchObject({
      schedulingGates: gates('example.com/quota', OURS),
      resourceClaims: [{ name: 'gpu' }],
    });
  });
});
