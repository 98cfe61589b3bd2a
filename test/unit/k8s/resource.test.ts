import { expect, test } from '@jest/globals';
import { kubeTime } from '../../../src/k8s/time.ts';
import { groupVersionString, parseGroupVersion } from '../../../src/k8s/resource.ts';
import { keyOf, splitKey } from '../../../src/kube/loop/cache.ts';

test.each([
  ['v1', '', 'v1'],
  ['batch/v1', 'batch', 'v1'],
  ['', '', ''],
  ['a/b/c', 'a', 'b/c'],
])('apiVersion %j is group %j and version %j', (apiVersion, group, version) => {
  expect(parseGroupVersion(apiVersion)).toEqual({ group, version });
  expect(groupVersionString({ group, version })).toBe(apiVersion);
});

test.each([
  ['ml', 'train', 'ml/train'],
  ['', 'train', 'train'],
])('namespace %j and name %j make the key %j, and come out of it', (namespace, name, key) => {
  expect(keyOf(namespace, name)).toBe(key);
  expect(splitKey(key)).toEqual({ namespace, name });
});

test('times are in whole seconds', () => {
  expect(kubeTime(Date.UTC(2026, 7, 21, 3, 10, 0, 999))).toBe('2026-08-21T03:10:00Z');
});
