/** A Pod with the label `muster.dev/gang`: named for its workload's gang, from there a gang Pod like any other. */
import { describe, expect, test } from '@jest/globals';
import { GATE_POD_GANG_PENDING } from '../../../src/api/names.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { PodRefused, type BackendFactory } from '../../../src/backends/backend.ts';
import { backend } from '../../support/backends.ts';
import { gangPod } from '../../support/pods.ts';
import { mutatePod, operationsOf, rulesOf, textsOf, validatePod } from '../../support/reviews.ts';
import { patched } from '../../support/rfc6902.ts';
import { policy } from '../../support/policy.ts';
import { workloadPod } from '../../support/workload-pods.ts';

const admitted = (object: JsonObject): JsonObject => patched(object, operationsOf(mutatePod({ object })));

test('it gets the names of its gang and group, and all that a gang Pod gets', () => {
  const object = workloadPod('job', 'train');
  const decision = mutatePod({ object });
  expect(decision).toMatchObject({ faults: [], gang: 'ml/job-train', backend: 'default-scheduler' });
  const stored = admitted(object);
  expect(stored).toMatchObject({
    metadata: { labels: { 'grove.io/podgang': 'job-train', 'grove.io/podclique': 'main' } },
    spec: { schedulingGates: [{ name: GATE_POD_GANG_PENDING }] },
  });
  expect(decision.changes.map(({ why }) => why)).toContain('job/train is a gang');
  // The same, but for the two labels, as of a Pod that named its gang itself.
  const named = gangPod({ labels: { 'grove.io/podgang': 'job-train', 'grove.io/podclique': 'main' } });
  expect((admitted(named) as { spec: object }).spec).toEqual((stored as { spec: object }).spec);
  expect(rulesOf(validatePod({ object: stored }))).toEqual([]);
});

test('admitted again it stays as it is, and a backend that reads labels sees them', () => {
  const stored = admitted(workloadPod('job', 'train'));
  expect(mutatePod({ object: stored })).toMatchObject({ faults: [], changes: [] });
  // Volcano refuses a Pod without the name of its gang.
  const volcano = policy({ fallback: 'volcano' });
  expect(rulesOf(mutatePod({ object: workloadPod('job', 'train') }, volcano))).toEqual([]);
});

test('what a later webhook adds is waited for, and never guessed', () => {
  const index = 'leaderworkerset.sigs.k8s.io/group-index';
  const early = workloadPod('lws', 'vllm', 'leader', { labels: { [index]: undefined } });
  expect(mutatePod({ object: early })).toMatchObject({ faults: [], changes: [] });
  const refused = validatePod({ object: early });
  expect(rulesOf(refused)).toEqual(['GangNotNamed']);
  expect(textsOf(refused).join()).toContain(`${index} is missing`);
  expect(admitted(workloadPod('lws', 'vllm', 'leader'))).toMatchObject({
    metadata: { labels: { 'grove.io/podgang': 'lws-vllm--0', 'grove.io/podclique': 'leader' } },
  });
});

describe('it is refused', () => {
  const cases: readonly (readonly [string, JsonObject, string, string])[] = [
    [
      'with another value of the label',
      workloadPod('job', 'train', 'main', { labels: { 'muster.dev/gang': 'yes' } }),
      'GangLabelValue',
      'write "true", in quotes',
    ],
    [
      'where nobody controls it',
      workloadPod('job', 'train', 'main', { metadata: { ownerReferences: [] } }),
      'GangWorkloadUnknown',
      'nobody controls this Pod',
    ],
    [
      'where its controller is of no known kind',
      workloadPod('job', 'train', 'main', { controller: { kind: 'DaemonSet', apiVersion: 'apps/v1' } }),
      'GangWorkloadUnknown',
      'apps/v1 DaemonSet train controls this Pod',
    ],
    [
      'where somebody wrote another job’s name on it',
      workloadPod('job', 'train', 'main', { controller: { name: 'mine' } }),
      'GangWorkloadMismatch',
      'batch/v1 Job mine controls this Pod',
    ],
    [
      'where it names another gang',
      workloadPod('job', 'train', 'main', { labels: { 'grove.io/podgang': 'other' } }),
      'GangNameForeign',
      'that is job-train',
    ],
  ];
  test.each(cases)('%s', (_, object, rule, says) => {
    for (const decision of [mutatePod({ object }), validatePod({ object })]) {
      expect(rulesOf(decision)).toEqual([rule]);
      expect(textsOf(decision).join()).toContain(says);
    }
  });

  test('where the API server did not have Muster name it', () => {
    const object = workloadPod('job', 'train');
    const decision = validatePod({ object });
    expect(rulesOf(decision)).toEqual(['GangNotNamed', 'GangNotNamed']);
    expect(textsOf(decision).join()).toContain('reinvocationPolicy: IfNeeded');
  });

  test('where the label comes or goes afterwards', () => {
    const stored = admitted(workloadPod('job', 'train'));
    const without = patched(stored, [{ op: 'remove', path: '/metadata/labels/muster.dev~1gang' }]);
    expect(rulesOf(validatePod({ object: without, oldObject: stored }))).toEqual(['GangLabelImmutable']);
    expect(rulesOf(validatePod({ object: stored, oldObject: without }))).toEqual(['GangLabelImmutable']);
  });
});

describe('all that is wrong with one Pod is said at once', () => {
  const withNode = (object: JsonObject): JsonObject => ({
    ...object,
    spec: { ...(object['spec'] as JsonObject), nodeName: 'x' },
  });
  const labels = { 'muster.dev/gang': 'yes', 'grove.io/podgang': 'Other', 'grove.io/scheduler-name': 'nope' };
  test.each<[string, JsonObject, string[]]>([
    [
      'beside the label’s value',
      withNode(workloadPod('job', 'train', 'main', { labels })),
      ['GangLabelValue', 'GangNameForeign', 'GangNameInvalid', 'NodeNameForbidden', 'SchedulerNotEnabled'],
    ],
    [
      'beside a controller that is not known',
      workloadPod('job', 'train', 'main', {
        labels: { 'muster.dev/gang': 'yes' },
        metadata: { ownerReferences: [] },
      }),
      ['GangLabelValue', 'GangWorkloadUnknown'],
    ],
  ])('%s', (_, object, expected) => expect(rulesOf(mutatePod({ object }))).toEqual(expected));

  test('what its backend refuses as well', () => {
    const object = gangPod({ labels: { 'grove.io/podgang': 'Not_A_Name' } });
    const refusing = backend('refusing', {
      preparePod: () => {
        throw new PodRefused('metadata.labels[q]', 'no queue');
      },
    });
    const broken = backend('refusing', {
      preparePod: () => {
        throw new TypeError('a defect');
      },
    });
    const rulesBy = (factory: BackendFactory) =>
      rulesOf(mutatePod({ object }, policy({ factories: [factory] })));
    expect(rulesBy(refusing)).toEqual(['GangNameInvalid', 'BackendFailed']);
    expect(rulesBy(broken)).toEqual(['GangNameInvalid']);
  });
});

test('an exempt namespace is left alone', () => {
  const object = workloadPod('job', 'train', 'main', { metadata: { ownerReferences: [] } });
  expect(mutatePod({ object, namespace: 'kube-system' })).toMatchObject({ faults: [], changes: [] });
});
