/** A namespace of which not all has room in memory: nobody may act on half of what there is. */
import { expect, test } from '@jest/globals';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import {
  anothers,
  FULL,
  gang,
  INITIALIZED,
  pod,
  PODS,
  reasons,
  running,
  state,
  written,
} from './gang-states.ts';

const memoryExceeded =
  'namespace ml holds more than Muster keeps of one in memory (64 MiB; left out are some pods)';
const NOTHING = { references: undefined, ungate: [], violations: [] };
const TOLD = [
  expect.objectContaining({ type: 'Warning', reason: 'NamespaceTooLarge', message: memoryExceeded }),
];

test('a gang that was complete waits, and says why', () => {
  const ready = state({ gang: gang({ groups: FULL, conditions: [INITIALIZED] }) });
  expect(planGang(ready).ungate).toHaveLength(3);
  const result = planGang({ ...ready, memoryExceeded });
  expect(result).toMatchObject({ ...NOTHING, status: undefined, summary: { why: memoryExceeded } });
  expect(result.events).toEqual(TOLD);
  expect(Object.values(reasons(result))).toEqual([memoryExceeded, memoryExceeded, memoryExceeded]);
});

test('one that had not formed has it in its condition', () => {
  const result = planGang(state({ memoryExceeded }));
  expect(result).toMatchObject(NOTHING);
  expect(written(result, 'Initialized')).toMatchObject({
    status: 'False',
    reason: 'NamespaceTooLarge',
    message: memoryExceeded,
  });
  expect(result.events).toEqual(expect.arrayContaining(TOLD));
  // Once it is written there is nothing more to write.
  const { conditions, phase } = result.status ?? {};
  expect(
    planGang(state({ memoryExceeded, gang: gang({ conditions: conditions ?? [], phase }) })).status,
  ).toBeUndefined();
});

test('one of which no Pod waits is told by an Event alone: a thousand of them must not cost a thousand writes', () => {
  const result = planGang(state({ memoryExceeded, pods: [] }));
  expect(result).toMatchObject({ ...NOTHING, status: undefined });
  expect(result.events).toEqual(TOLD);
});

test('nothing is taken back for Pods that are not known', () => {
  const formed = gang({ groups: FULL, conditions: [INITIALIZED], phase: 'Running' });
  for (const pods of [[], [running('leader-0')], [pod('leader-0', { gates: [] })]]) {
    expect(planGang(state({ memoryExceeded, gang: formed, pods }))).toMatchObject({
      ...NOTHING,
      status: undefined,
    });
  }
});

test('Pods whose gang is not known are not told that it does not exist', () => {
  const result = planGang(
    state({ memoryExceeded, gang: 'missing', now: Date.parse('2026-06-01T13:00:00Z') }),
  );
  expect(result).toMatchObject({ ...NOTHING, status: undefined, events: [] });
  expect(reasons(result)[PODS[0]?.name ?? '']).toBe(memoryExceeded);
});

test('of a gang that others move it says nothing', () => {
  const result = planGang(state({ memoryExceeded, notOurs: anothers('the Grove operator does') }));
  expect(result).toMatchObject({ ...NOTHING, status: undefined, events: [] });
});
