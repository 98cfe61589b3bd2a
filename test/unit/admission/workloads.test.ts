/** When a workload itself is asked about, and when it is left alone. */
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { askingWorkload } from '../../support/asking-workloads.ts';
import { rulesOf, validateWorkload, type RequestParts } from '../../support/reviews.ts';

const set = (template = 'T', metadata: JsonObject = {}): JsonObject =>
  askingWorkload('apps/v1 StatefulSet db', `replicas: 3, template: ${template}`, metadata);
const CONTROLLED = {
  ownerReferences: [
    { apiVersion: 'example.com/v1', kind: 'Database', name: 'db', uid: 'u', controller: true },
  ],
};

describe('a workload that cannot work is refused', () => {
  test.each<[string, RequestParts]>([
    ['as it is created', { object: set() }],
    ['as its template gets the label', { object: set(), oldObject: set('U') }],
    [
      'by an owner that does not control it',
      { object: set('T', { ownerReferences: [{ ...CONTROLLED.ownerReferences[0], controller: false }] }) },
    ],
  ])('%s', (_, parts) => {
    const decision = validateWorkload('apps/v1 StatefulSet', parts);
    expect(rulesOf(decision)).toEqual(['PodsOneByOne']);
    expect(decision.changes).toEqual([]);
  });
});

test('one that has Pods is refused the label where they would be replaced one after the other', () => {
  const parallel = (template: string): JsonObject =>
    askingWorkload(
      'apps/v1 StatefulSet db',
      `replicas: 3, podManagementPolicy: Parallel, template: ${template}`,
    );
  const decide = (parts: RequestParts) => rulesOf(validateWorkload('apps/v1 StatefulSet', parts));
  expect(decide({ object: parallel('T'), oldObject: parallel('U') })).toEqual(['PodsOneByOne']);
  expect(decide({ object: parallel('T') })).toEqual([]);
  expect(decide({ object: parallel('T'), oldObject: parallel('T') })).toEqual([]);
});

describe('nothing is in the way', () => {
  const deleted = set('U', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  test.each<[string, RequestParts]>([
    ['of a workload without the label', { object: set('U') }],
    ['of a stored one that asks already', { object: set(), oldObject: set() }],
    ['of one that is being deleted', { object: set(), oldObject: deleted }],
    ['of its deletion', { operation: 'DELETE', oldObject: set(), object: null }],
    ['of its scale', { object: set(), oldObject: set('U'), subResource: 'scale' }],
    ['of what a controller makes of another', { object: set('T', CONTROLLED) }],
    ['of the cluster’s own', { object: set(), namespace: 'kube-system' }],
  ])('%s', (_, parts) => {
    expect(validateWorkload('apps/v1 StatefulSet', parts)).toMatchObject({ faults: [], warnings: [] });
  });
});

test('what works otherwise than it looks is told, and let in', () => {
  const object = askingWorkload('batch/v1 Job train', 'parallelism: 5, completions: 3, template: T');
  const { faults, warnings } = validateWorkload('batch/v1 Job', { object });
  expect(faults).toEqual([]);
  expect(warnings).toEqual([expect.stringMatching(/^spec\.parallelism: 5 is above completions/)]);
});

describe('a key of ours that does not make a gang of it is told, and let in', () => {
  const job = (template: string, metadata: JsonObject = {}): JsonObject =>
    askingWorkload('batch/v1 Job train', `template: ${template}`, metadata);
  const misspelt = '{metadata: {labels: {muster.dev/gnag: "true"}}, spec: {containers: []}}';
  const annotated = '{metadata: {annotations: {muster.dev/gang: "true"}}, spec: {containers: []}}';
  const onJob = { labels: { 'muster.dev/gang': 'true' } };
  const ON_JOB =
    'metadata.labels[muster.dev/gang]: muster.dev/gang: the workload has it and its Pods have not: they belong to no gang; put it into metadata.labels of the Pod template [LabelOnWorkload]';
  test.each<[string, RequestParts, string[]]>([
    ['on the workload', { object: job('U', onJob) }, [ON_JOB]],
    [
      'misspelt',
      { object: job(misspelt) },
      [
        'spec.template.metadata.labels[muster.dev/gnag]: "muster.dev/gnag" (did you mean "muster.dev/gang"?): is no label that Muster reads; correct the key, or the Pod belongs to no gang [LabelMisspelt]',
      ],
    ],
    [
      'as an annotation',
      { object: job(annotated) },
      [
        'spec.template.metadata.annotations[muster.dev/gang]: muster.dev/gang: is read as a label only; move it to metadata.labels [LabelAsAnnotation]',
      ],
    ],
    ['as it comes', { object: job('U', onJob), oldObject: job('U') }, [ON_JOB]],
    ['not again', { object: job('U', onJob), oldObject: job('U', onJob) }, []],
    ['not beside the template’s', { object: job('T', onJob) }, []],
    ['not of others', { object: job('U', { labels: { app: 'x' } }) }, []],
  ])('%s', (_, parts, warnings) => {
    expect(validateWorkload('batch/v1 Job', parts)).toMatchObject({ faults: [], changes: [], warnings });
  });
});
