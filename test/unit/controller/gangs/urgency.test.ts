/** Which changes of a gang are judged at once, which a moment later, and which not by themselves. */
import { beforeEach, expect, test } from '@jest/globals';
import { WriteMemory, urgencyOf } from '../../../../src/controller/gangs/write-memory.ts';
import { readGangRecord, readPodRecord } from '../../../../src/gang/read-records.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import type { ObjectChange } from '../../../../src/kube/loop/cache.ts';

const GATE = 'grove.io/podgang-pending-creation';
const KEY = 'ml/train';

let memory: WriteMemory;
beforeEach(() => {
  memory = new WriteMemory();
});

const pod = (parts: Partial<PodRecord> = {}): PodRecord => ({
  ...readPodRecord({
    metadata: {
      namespace: 'ml',
      name: 'train-0',
      uid: 'uid',
      resourceVersion: '1',
      labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' },
    },
    spec: { schedulingGates: [{ name: GATE }, { name: 'example.com/quota' }] },
    status: { phase: 'Pending' },
  }),
  ...parts,
});
const gang = (resourceVersion: string): GangRecord =>
  readGangRecord({ metadata: { namespace: 'ml', name: 'train', uid: 'uid', resourceVersion } });

const updated = (now: PodRecord): ObjectChange<PodRecord> => ({ type: 'updated', old: pod(), new: now });

test.each<[string, ObjectChange<PodRecord>]>([
  ['that comes', { type: 'added', old: undefined, new: pod() }],
  ['that goes', { type: 'deleted', old: pod(), new: undefined }],
  ['with a gate more', updated(pod({ gates: [GATE, 'example.com/quota', 'example.com/licence'] }))],
  ['with another gate', updated(pod({ gates: [GATE, 'example.com/licence'] }))],
  ...Object.entries({
    nodeName: 'node-1',
    phase: 'Running',
    ready: true,
    gang: 'other',
    group: 'other',
    baseGang: 'base',
    schedulerName: 'other',
    deletionTimestamp: '2026-01-01T00:00:00Z',
    podScheduled: { status: 'False', reason: 'Unschedulable', message: 'no room' },
  }).map(([field, value]): [string, ObjectChange<PodRecord>] => [
    `with a gate less and another ${field}`,
    updated(pod({ gates: [], [field]: value })),
  ]),
])('a Pod %s: at once, though we took its gate off', (_, change) => {
  memory.released(KEY, 'uid');
  memory.released(KEY, 'another');
  expect(urgencyOf(KEY, change, memory)).toBe('now');
});

test('a gate that somebody else took off, be it ours or not: a moment later', () => {
  expect(urgencyOf(KEY, updated(pod({ gates: ['example.com/quota'] })), memory)).toBe('soon');
  memory.released(KEY, 'uid');
  expect(urgencyOf(KEY, updated(pod({ gates: [GATE] })), memory)).toBe('soon');
  expect(memory.isReleased(KEY, 'uid')).toBe(true);
});

test('gates that we took off: not before the last of them, and that at once', () => {
  for (const uid of ['a', 'b', 'c']) memory.released(KEY, uid);
  const off = (uid: string): string =>
    urgencyOf(KEY, { type: 'updated', old: pod({ uid }), new: pod({ uid, gates: [] }) }, memory);
  expect(['b', 'a', 'c', 'd'].map(off)).toEqual(['never', 'never', 'now', 'soon']);
  expect(memory.isReleased(KEY, 'a')).toBe(false);
});

test('a gang as we wrote it: not, where it was judged by the answer already; else a moment later', () => {
  const seen = (version: string): string =>
    urgencyOf(KEY, { type: 'updated', old: gang('1'), new: gang(version) }, memory);
  expect(seen('2')).toBe('now');
  memory.wrote(KEY, '2', gang('3'));
  expect(seen('3')).toBe('soon');
  memory.wrote(KEY, '3', gang('4'));
  memory.judged(KEY);
  memory.wrote(KEY, '4', gang('5'));
  memory.judged(KEY);
  expect(seen('3')).toBe('never');
  expect(seen('4')).toBe('never');
  expect(memory.newest(KEY, gang('4')).resourceVersion).toBe('5');
  expect(seen('5')).toBe('never');
  // The cache has it by now: whatever comes after it is somebody else's.
  expect(memory.newest(KEY, gang('4')).resourceVersion).toBe('4');
  expect(seen('5')).toBe('now');
});

test('a gang that somebody else wrote after us, that comes, or that goes: at once', () => {
  memory.wrote(KEY, '1', gang('2'));
  memory.judged(KEY);
  const old = gang('1');
  expect(urgencyOf(KEY, { type: 'updated', old, new: gang('3') }, memory)).toBe('now');
  expect(urgencyOf('ml/other', { type: 'updated', old, new: gang('2') }, memory)).toBe('now');
  expect(urgencyOf(KEY, { type: 'added', old: undefined, new: gang('2') }, memory)).toBe('now');
  expect(urgencyOf(KEY, { type: 'deleted', old, new: undefined }, memory)).toBe('now');
});
