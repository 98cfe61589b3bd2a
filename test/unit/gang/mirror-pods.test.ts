import { expect, test } from '@jest/globals';
import { membershipOf } from '../../../src/gang/membership.ts';
import { takeCensus } from '../../../src/gang/plan/census.ts';
import { readPodRecord } from '../../../src/gang/read-records.ts';
import { gang, group } from './plan/gang-states.ts';

const LABELS = {
  'grove.io/podgang': 'train',
  'grove.io/podclique': 'worker',
  'grove.io/base-podgang': 'base',
};
const pod = (name: string, annotations: Record<string, string>) =>
  readPodRecord({ metadata: { namespace: 'ml', name, uid: name, labels: LABELS, annotations } });

test('a mirror Pod is no member: a node runs it by itself, whatever the labels that its kubelet gave it', () => {
  const mirror = pod('mirror', { 'kubernetes.io/config.mirror': 'hash' });
  expect(mirror).toMatchObject({ gang: '', group: '', baseGang: undefined });
  expect(pod('real', { 'kubernetes.io/config.source': 'file' })).toMatchObject(
    membershipOf('ml', (key) => (LABELS as Record<string, string>)[key]),
  );
  const [workers] = takeCensus(gang({ groups: [group('worker', 2)] }), [mirror, pod('real', {})]);
  expect(workers?.members.map(({ name }) => name)).toEqual(['real']);
});
