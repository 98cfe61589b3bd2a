/** What makes a cache of many Pods small: equal parts are the same part. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readPodRecord } from '../../../../src/gang/read-records.ts';
import { SharedValues } from '../../../../src/controller/watch/gang-watch.ts';
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
