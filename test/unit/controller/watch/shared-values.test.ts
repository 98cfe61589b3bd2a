/** What makes a cache of many Pods small: equal parts are the same part. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readGangRecord, readPodRecord } from '../../../../src/gang/read-records.ts';
import { SharedValues } from '../../../../src/controller/watch/shared-values.ts';
import type { JsonObject } from '../../../../src/json/json.ts';

const parsed = (
  name: string,
  { gang = 'train', gates = ['grove.io/podgang-pending-creation'], message = 'full' } = {},
): JsonObject =>
  JSON.parse(
    JSON.stringify({
      metadata: {
        namespace: 'ml',
        name,
        uid: name,
        resourceVersion: '7',
        labels: { 'grove.io/podgang': gang },
      },
      spec: { schedulingGates: gates.map((gate) => ({ name: gate })) },
      status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] },
    }),
  ) as JsonObject;

test('equal gates and conditions of two Pods are one and the same, different ones are not', () => {
  const shared = new SharedValues();
  const [a, b, c] = [
    shared.pod(readPodRecord(parsed('a'))),
    shared.pod(readPodRecord(parsed('b'))),
    shared.pod(readPodRecord(parsed('c', { gates: ['x'], message: 'still full' }))),
  ];
  expect(b.gates).toBe(a.gates);
  expect(b.podScheduled).toBe(a.podScheduled);
  expect(c.gates).toEqual(['x']);
  expect(c.podScheduled).toMatchObject({ message: 'still full' });
});

test('long ones are not remembered: they would stay when their Pods are gone', () => {
  const shared = new SharedValues();
  const long = { gates: Array.from({ length: 100 }, (_, index) => `example.com/gate-${index}`) };
  const [a, b] = [shared.pod(readPodRecord(parsed('a', long))), shared.pod(readPodRecord(parsed('b', long)))];
  expect(b.gates).toEqual(a.gates);
  expect(b.gates).not.toBe(a.gates);
});

test('a record says the same before and after, however many there were', () => {
  const shared = new SharedValues();
  const text = fc.string({ maxLength: 3 });
  const shape = fc.record({ gang: text, message: text, gates: fc.array(text, { maxLength: 2 }) });
  fc.assert(
    fc.property(text, shape, (name, given) => {
      const record = readPodRecord(parsed(name, given));
      expect(shared.pod(record)).toEqual(record);
    }),
  );
  for (let index = 0; index < 40_000; index += 1) {
    const record = readPodRecord(parsed('a', { gang: `gang-${index}` }));
    if (shared.pod(record).gang !== `gang-${index}`) throw new Error(`gang-${index} was mistaken`);
  }
});

const parsedGang = (name: string, message: string): JsonObject =>
  JSON.parse(
    JSON.stringify({
      metadata: { namespace: 'ml', name, uid: name, resourceVersion: '7', labels: { app: message } },
      spec: { podgroups: [{ name: 'worker', minReplicas: 1, podReferences: [] }] },
      status: {
        phase: 'Pending',
        conditions: [
          { type: 'Ready', status: 'False', reason: 'PodsNotReady', message, observedGeneration: 2 },
          { type: 'Initialized', status: 'True', lastTransitionTime: '2026-11-28T20:00:00Z' },
        ],
      },
    }),
  ) as JsonObject;

test('gangs with the same labels have one map of them, others their own', () => {
  const shared = new SharedValues();
  const [a, b, c] = ['x', 'x', 'y'].map((label) => shared.gang(readGangRecord(parsedGang('a', label))));
  expect(b?.labels).toBe(a?.labels);
  expect(c?.labels).toEqual(new Map([['app', 'y']]));
  expect(c?.annotations).toBe(a?.annotations);
});

test('a gang says the same before and after, whatever its conditions have', () => {
  const shared = new SharedValues();
  const text = fc.string({ maxLength: 3 });
  fc.assert(
    fc.property(text, text, (name, message) => {
      const record = readGangRecord(parsedGang(name, message));
      expect(shared.gang(record)).toEqual(record);
    }),
  );
});
