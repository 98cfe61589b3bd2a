/** What is most of a large Pod is there for whoever declares to look, and nobody else finds it empty instead. */
import { expect, test } from '@jest/globals';
import { ReceivedPod } from '../../../src/admission/pod-reader.ts';
import type { JsonObject } from '../../../src/json/json.ts';
import { encodePod } from '../../../src/modules/callbacks.ts';
import { readsLargeLists, podPartFor, type PodReaderNeeds } from '../../../src/preparers/pod-part.ts';
import type { PodReader } from '../../../src/preparers/preparer.ts';

const SECRET = 'x'.repeat(1_000);
const POD: JsonObject = {
  metadata: { name: 'one', labels: { l: 'of a label' }, annotations: { a: 'of an annotation' }, uid: 'u' },
  spec: {
    schedulerName: 'mine',
    priorityClassName: 'high',
    schedulingGroup: { podGroupName: 'group' },
    workloadRef: { name: 'workload', podGroup: 'worker' },
    hostNetwork: true,
    hostname: 'here',
    tolerations: [{ key: 'gpu' }],
    volumes: [{ name: SECRET }],
    initContainers: [{ name: 'first', env: [{ name: SECRET }] }],
    containers: [
      { name: 'main', command: ['run'], env: [{ name: SECRET }], volumeMounts: [{ name: SECRET }] },
    ],
  },
};
const mine: PodReaderNeeds = { name: 'mine', patchSurface: { annotations: ['a'] } };
const partOf = (pod: JsonObject): PodReader => podPartFor(mine, new ReceivedPod(pod, 'ml'));

test.each([
  ['declares nothing', mine, false],
  [
    'adds to lists of a few items',
    { ...mine, patchSurface: { lists: ['spec.tolerations'] as const } },
    false,
  ],
  ['sets fields', { ...mine, patchSurface: { fields: ['containers.command'] as const } }, false],
  ['says that it looks', { ...mine, readsWholePods: true }, true],
  ['adds to the environment', { ...mine, patchSurface: { lists: ['containers.env'] as const } }, true],
  ['adds to volumes', { ...mine, patchSurface: { lists: ['spec.volumes'] as const } }, true],
])('a backend that %s', (_what, declared, all) => {
  expect(readsLargeLists(declared)).toBe(all);
  const whole = new ReceivedPod(POD, 'ml');
  expect(podPartFor(declared, whole) === whole).toBe(all);
});

test('all else of the Pod is there as ever, also from a process of its own', () => {
  for (const pod of [POD, encodePod(POD, false)]) {
    const { namespace, name, schedulerName, priorityClassName, schedulingGroup, workloadRef, containers } =
      partOf(pod);
    expect({
      namespace,
      name,
      schedulerName,
      priorityClassName,
      schedulingGroup,
      workloadRef,
      containers,
    }).toEqual({
      namespace: 'ml',
      name: 'one',
      schedulerName: 'mine',
      priorityClassName: 'high',
      schedulingGroup: 'group',
      workloadRef: { name: 'workload', podGroup: 'worker' },
      containers: ['main'],
    });
    const part = partOf(pod);
    expect([part.label('l'), part.annotation('a')]).toEqual(['of a label', 'of an annotation']);
    expect(part.list('spec.tolerations')).toEqual([{ key: 'gpu' }]);
    expect([part.field('spec.hostname'), part.field('containers.command', 'main')]).toEqual([
      'here',
      ['run'],
    ]);
    expect(part.at(['spec', 'hostNetwork'])).toBe(true);
  }
});

test.each([
  ['spec.volumes', (pod: PodReader) => pod.list('spec.volumes')],
  ['spec.initContainers', (pod: PodReader) => pod.list('spec.initContainers')],
  ['containers.env', (pod: PodReader) => pod.list('containers.env', 'main')],
  ['containers.volumeMounts', (pod: PodReader) => pod.list('containers.volumeMounts')],
  ['spec.containers.0.env', (pod: PodReader) => pod.at(['spec', 'containers', '0', 'env'])],
  ['spec', (pod: PodReader) => pod.at(['spec'])],
  ['the whole Pod', (pod: PodReader) => pod.at([])],
])('who looks at %s without having said so is told', (place, look) => {
  expect(() => look(partOf(POD))).toThrow(
    `backend mine looked at ${place}, which it is given only where it declares to look there`,
  );
});

test('a module is sent a line without them, and the whole spec where it looks at all of it', () => {
  expect(JSON.stringify(encodePod(POD, false)).length).toBeLessThan(500);
  expect(encodePod(POD, true)['spec']).toEqual(POD['spec']);
  expect(encodePod({}, false)).toEqual({ metadata: {}, spec: { containers: [] } });
});
