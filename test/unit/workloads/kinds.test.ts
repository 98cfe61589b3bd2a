/** Which gang and group a Pod is of, by the labels and the owner reference that its workload's controller writes. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isPodGangName } from '../../../src/api/pod-gang.ts';
import { isLabelValue } from '../../../src/k8s/name-syntax.ts';
import { own, ownObject, ownString, type JsonObject } from '../../../src/json/json.ts';
import { belongingOf, controllerOf, originOf } from '../../../src/workloads/pod-origin.ts';
import { gangKinds } from '../../../src/workloads/kinds.ts';
import { gangName, groupName } from '../../../src/workloads/gang-names.ts';
import { searchLength } from '../../support/length.ts';
import { workloadPod } from '../../support/workload-pods.ts';

const belonging = (pod: JsonObject) => {
  const metadata = ownObject(pod, 'metadata');
  const text = (map: string) => (key: string) => ownString(own(metadata, map), key);
  return belongingOf({
    label: text('labels'),
    annotation: text('annotations'),
    name: ownString(metadata, 'name'),
    controller: controllerOf(metadata),
  });
};
const placed = (pod: JsonObject): string => {
  const found = belonging(pod);
  return found.is === 'told' ? `${found.gang} ${found.group}` : found.is;
};

describe('a Pod is of the gang of its workload', () => {
  test.each([
    ['job', 'train', 'main', {}, 'job-train main'],
    ['jobset', 'train', 'worker', {}, 'jobset-train worker'],
    [
      'jobset',
      'train',
      'worker',
      { labels: { 'muster.dev/gang-per': 'replicatedjob' } },
      'jobset-train--worker worker',
    ],
    ['lws', 'vllm', 'leader', { part: '2' }, 'lws-vllm--2 leader'],
    ['lws', 'vllm', 'worker', { part: '2' }, 'lws-vllm--2 worker'],
    ['statefulset', 'db', 'main', {}, 'statefulset-db main'],
    ['replicaset', 'web-5d4f', 'main', {}, 'replicaset-web-5d4f main'],
    ['pytorchjob', 'bert', 'master', {}, 'pytorchjob-bert master'],
    ['tfjob', 'bert', 'ps', {}, 'tfjob-bert ps'],
    ['mpijob', 'hpl', 'worker', {}, 'mpijob-hpl worker'],
    ['xgboostjob', 'trees', 'master', {}, 'xgboostjob-trees master'],
    ['paddlejob', 'ernie', 'worker', {}, 'paddlejob-ernie worker'],
    ['jaxjob', 'gemma', 'worker', {}, 'jaxjob-gemma worker'],
    ['raycluster', 'ray', 'ray-head', {}, 'raycluster-ray ray-head'],
    ['raycluster', 'ray', 'gpu', {}, 'raycluster-ray gpu'],
    ['vcjob', 'train', 'ps', {}, 'vcjob-train ps'],
    ['rbg', 'llm', 'router', {}, 'rbg-llm router'],
    ['rbg', 'llm', 'decode-worker', {}, 'rbg-llm decode-worker'],
    ['modelserving', 'llm', 'prefill-entry', {}, 'modelserving-llm--0 prefill-entry'],
    ['modelserving', 'llm', 'prefill-worker', { part: '2' }, 'modelserving-llm--2 prefill-worker'],
  ] as const)('%s %s, group %s', (short, name, group, given, wanted) => {
    expect(placed(workloadPod(short, name, group, given))).toBe(wanted);
  });

  test('the launcher of an MPIJob, which is a Job', () => {
    const launcher = workloadPod('mpijob', 'hpl', 'launcher', {
      labels: { 'batch.kubernetes.io/job-name': 'hpl-launcher' },
      controller: { apiVersion: 'batch/v1', kind: 'Job', name: 'hpl-launcher' },
    });
    expect(placed(launcher)).toBe('mpijob-hpl launcher');
    // Its workers have a role instead of a type.
    const labels = {
      'training.kubeflow.org/replica-type': undefined,
      'training.kubeflow.org/job-role': 'worker',
    };
    expect(placed(workloadPod('mpijob', 'hpl', 'worker', { labels }))).toBe('mpijob-hpl worker');
    expect(placed(workloadPod('pytorchjob', 'bert', 'worker', { labels }))).toBe('different');
  });

  test('with the uid of the workload, where its Pods tell it', () => {
    expect(originOf(workloadPod('job', 'train'))).toEqual({
      kind: 'job',
      name: 'train',
      uid: 'uid-of-train',
      part: undefined,
      controller: { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'uid-of-train' },
      size: undefined,
    });
    const set = workloadPod('jobset', 'train', 'w', { labels: { 'jobset.sigs.k8s.io/jobset-uid': 'u' } });
    expect(originOf(set)?.uid).toBe('u');
    expect(originOf(workloadPod('job', 'train', 'main', { labels: { 'muster.dev/gang': undefined } }))).toBe(
      undefined,
    );
  });
});

describe('nobody joins by writing the controllers’ labels himself', () => {
  test.each([
    ['job', 'train', 'main', { controller: { name: 'mine' } }],
    ['jobset', 'train', 'worker', { controller: { name: 'mine' } }],
    ['jobset', 'train', 'worker', { controller: { name: 'train-worker-1' } }],
    ['lws', 'vllm', 'leader', { controller: { name: 'mine' } }],
    ['lws', 'vllm', 'leader', { metadata: { name: 'vllm-1' } }],
    ['lws', 'vllm', 'worker', { controller: { name: 'vllm-1' } }],
    ['statefulset', 'db', 'main', { controller: { name: 'mine' } }],
    ['statefulset', 'db', 'main', { labels: { 'statefulset.kubernetes.io/pod-name': 'db-7' } }],
    ['replicaset', 'web-5d4f', 'main', { labels: { 'pod-template-hash': 'other' } }],
    ['pytorchjob', 'bert', 'master', { controller: { name: 'mine' } }],
    ['mpijob', 'hpl', 'launcher', { controller: { kind: 'Job', apiVersion: 'batch/v1', name: 'mine' } }],
    ['raycluster', 'ray', 'gpu', { controller: { name: 'mine' } }],
    ['vcjob', 'train', 'ps', { controller: { name: 'mine' } }],
    ['rbg', 'llm', 'router', { controller: { name: 'mine' } }],
    ['rbg', 'llm', 'router', { labels: { 'rbg.workloads.x-k8s.io/role-name': undefined } }],
    ['modelserving', 'llm', 'prefill-entry', { controller: { name: 'mine' } }],
    ['modelserving', 'llm', 'a-entry', { labels: { 'modelserving.volcano.sh/group-name': 'other-0' } }],
    ['modelserving', 'llm', 'a-entry', { labels: { 'modelserving.volcano.sh/group-name': 'llm-all' } }],
    ['modelserving', 'llm', 'a-entry', { labels: { 'modelserving.volcano.sh/role': undefined } }],
  ] as const)('%s %s, group %s, with %j', (short, name, group, given) => {
    expect(placed(workloadPod(short, name, group, given))).toBe('different');
  });

  test.each([
    ['that nobody controls', { metadata: { ownerReferences: [] } }],
    ['whose owner does not control it', { controller: { controller: false } }],
    ['of a kind that is not known', { controller: { kind: 'DaemonSet', apiVersion: 'apps/v1' } }],
    ['of a group that is not known', { controller: { apiVersion: 'evil.io/v1' } }],
  ] as const)('a Pod %s is of no gang', (_, given) => {
    expect(placed(workloadPod('job', 'train', 'main', given as object))).toBe('unknown');
  });

  test('a label that another webhook adds late is waited for', () => {
    const leader = workloadPod('lws', 'vllm', 'leader', {
      labels: { 'leaderworkerset.sigs.k8s.io/group-index': undefined },
    });
    expect(belonging(leader)).toEqual({ is: 'late', label: 'leaderworkerset.sigs.k8s.io/group-index' });
  });
});

test('each row of the table reads what its own controller writes', () => {
  for (const { short } of gangKinds) expect(placed(workloadPod(short, 'w', 'main'))).toMatch(`${short}-w`);
});

describe('names of gangs', () => {
  const names = fc.oneof(
    fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/),
    fc.stringMatching(/^[a-z0-9][-a-z0-9.]{40,250}[a-z0-9]$/),
    fc.constantFrom('a--b', 'a-b', 'a', 'b', 'a.b', 'job-a', 'a--b-0000000000000', 'A', ''),
  );
  const told = fc.record({
    kind: fc.constantFrom('job', 'jobset', 'vcjob'),
    name: names,
    part: fc.option(names, { nil: undefined }),
  });

  test('are valid, the same each time, and no two workloads’ are the same', () => {
    const property = fc.property(told, told, (a, b) => {
      const [left, right] = [a, b].map(({ kind, name, part }) => gangName(kind, name, part));
      expect(isPodGangName(left ?? '')).toBe(true);
      expect(gangName(a.kind, a.name, a.part)).toBe(left);
      const same = a.kind === b.kind && a.name === b.name && a.part === b.part;
      expect(left === right).toBe(same);
    });
    fc.assert(property, { numRuns: searchLength({ short: 2_000, long: 100_000 }) });
  });

  test('of as many workloads as a cluster ever has', () => {
    const count = searchLength({ short: 20_000, long: 1_000_000 });
    const seen = new Set<string>();
    for (let index = 0; index < count; index += 1) {
      // A third too long, a third with dots, the rest plain; every second a part.
      const name =
        ['', 'training-of-the-large-model-on-many-nodes-of-the-cluster-', 'v1.2-'][index % 3] ?? '';
      const part = index % 2 === 0 ? undefined : `worker-${index % 7}`;
      const made = gangName('job', `${name}${index}`, part);
      if (!isPodGangName(made)) throw new Error(`${made} is no name of a PodGang`);
      seen.add(made);
    }
    expect(seen.size).toBe(count);
  }, 120_000);

  test('of groups are those of the workload, where a label can hold them', () => {
    expect([groupName('worker'), groupName('a.b_c')]).toEqual(['worker', 'a.b_c']);
    const long = groupName('x'.repeat(100));
    expect(isLabelValue(long)).toBe(true);
    expect(long).not.toBe(groupName('x'.repeat(101)));
  });
});
