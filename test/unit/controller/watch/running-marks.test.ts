/** By which settings of an HPCPolicy the Pods of a gang run, as the watch of Pods tells it. */
import { expect, test } from '@jest/globals';
import { RunningMarks } from '../../../../src/controller/watch/policy-watch.ts';
import type { PodRecord } from '../../../../src/gang/records.ts';
import { GATE_POD_GANG_PENDING } from '../../../../src/api/names.ts';

const pod = (parts: Partial<PodRecord> = {}): PodRecord => ({
  ...{ namespace: 'n', name: 'p', uid: 'u', resourceVersion: '1', creationTimestamp: undefined },
  ...{ deletionTimestamp: undefined, gang: 'g', group: 'a', baseGang: undefined, nodeName: '' },
  ...{ phase: 'Running', ready: false, podScheduled: undefined, gates: [], prepared: 'flux@1' },
  ...parts,
});

test('a Pod counts from when it is let go until it ends or is deleted', () => {
  const marks = new RunningMarks();
  const history: readonly (readonly [Partial<PodRecord>, string | undefined])[] = [
    [{ gates: [GATE_POD_GANG_PENDING], phase: 'Pending' }, undefined],
    [{ phase: 'Pending' }, 'flux@1'],
    [{}, 'flux@1'],
    [{ deletionTimestamp: '2026-01-01T00:00:00Z' }, undefined],
  ];
  let old: PodRecord | undefined;
  for (const [parts, runs] of history) {
    const now = pod(parts);
    marks.changed({ old, new: now });
    expect(marks.otherThan('n/g', 'flux@2')).toBe(runs);
    old = now;
  }
  if (old !== undefined) marks.changed({ old, new: undefined });
  expect(marks.otherThan('n/g', 'flux@2')).toBeUndefined();
});

test('a Pod that has ended runs by nothing, and neither does one that nobody prepared', () => {
  const marks = new RunningMarks();
  for (const parts of [{ phase: 'Succeeded' }, { phase: 'Failed' }, { prepared: undefined }])
    marks.changed({ old: undefined, new: pod(parts) });
  expect(marks.otherThan('n/g', 'flux@2')).toBeUndefined();
});

test('each gang has its own, as long as the last Pod that runs by a mark', () => {
  const marks = new RunningMarks();
  const [first, second] = [pod({ name: 'a' }), pod({ name: 'b' })];
  for (const one of [first, second, pod({ name: 'c', prepared: 'flux@2' }), pod({ gang: 'h' })])
    marks.changed({ old: undefined, new: one });
  marks.changed({ old: first, new: undefined });
  expect([marks.otherThan('n/g', 'flux@2'), marks.otherThan('n/g', 'flux@1')]).toEqual(['flux@1', 'flux@2']);
  marks.changed({ old: second, new: undefined });
  expect([marks.otherThan('n/g', 'flux@2'), marks.otherThan('n/g', 'flux@1')]).toEqual([undefined, 'flux@2']);
  expect(marks.otherThan('n/h', 'flux@1')).toBeUndefined();
});
