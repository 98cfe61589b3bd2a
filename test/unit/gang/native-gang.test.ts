import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { readPodRecord } from '../../../src/gang/read-records.ts';
import { gangPod } from '../../support/pods.ts';

test.each<[string, JsonObject, string]>([
  ['none', {}, ''],
  ['a PodGroup, of 1.36 and later', { schedulingGroup: { podGroupName: 'train' } }, 'train'],
  ['a group of a Workload, of 1.35', { workloadRef: { name: 'train', podGroup: 'gang' } }, 'train/gang'],
  [
    'one of several copies of it',
    { workloadRef: { name: 'train', podGroup: 'gang', podGroupReplicaKey: '1' } },
    'train/gang/1',
  ],
  ['nonsense', { schedulingGroup: 'train', workloadRef: ['x'] }, ''],
])('the native gang that a Pod names: %s', (_name, spec, expected) => {
  expect(readPodRecord(gangPod({ spec })).nativeGang).toBe(expected);
});
