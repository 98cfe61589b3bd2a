import { expect, test } from '@jest/globals';
import type { BackendState } from '../../../../src/gang/records.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import { publishedBackend } from '../../../../src/gang/plan/holds.ts';
import { bound, condition, FULL, gang, INITIALIZED, pod, PODS, state } from './gang-states.ts';

const base: BackendState = {
  name: 'kai-scheduler',
  ready: true,
  objectsExist: true,
  releaseOrder: 'all-at-once',
};

/** What the loop knows, as somebody else reads it from the status that it writes. */
function told(known: BackendState, parts: Parameters<typeof state>[0]): BackendState {
  const before = state({ ...parts, backend: known });
  const { status } = planGang(before);
  if (before.gang === 'missing' || status === undefined) throw new Error('nothing was written');
  return publishedBackend({ ...before.gang, conditions: status.conditions }, base);
}

const forming = { gang: gang({ groups: FULL }), pods: PODS };
const whole = { gang: gang({ groups: FULL, conditions: [INITIALIZED] }), pods: PODS };
const released = { ...whole, pods: [bound('leader-0'), pod('workers-0', { gates: [] }), bound('workers-1')] };

test.each<[string, BackendState, Parameters<typeof state>[0]]>([
  ['nothing of note', base, released],
  [
    'not ready, of a gang that forms',
    { ...base, ready: false, reason: 'no CRD: a; b', objectsExist: false },
    forming,
  ],
  [
    'not ready, of one that is whole',
    { ...base, ready: false, reason: 'no CRD: a; b', objectsExist: false },
    whole,
  ],
  ['objects missing, of a gang that forms', { ...base, objectsExist: false }, forming],
  [
    'objects refused',
    { ...base, objectsExist: false, objectsWait: 'queue "q" is closed: open it; or not' },
    whole,
  ],
  [
    'the scheduler’s words',
    { ...base, schedulerMessage: 'no node has 8 GPUs: 3 nodes; 2 tainted' },
    released,
  ],
])('the conditions tell what the loop knows: %s', (_what, known, parts) => {
  expect(told(known, parts)).toEqual({
    ...known,
    reason: known.reason,
    objectsWait: known.objectsWait,
    schedulerMessage: known.schedulerMessage,
  });
});

test.each(['BackendNotReady', 'WaitingForBackendObjects', 'Unschedulable'])(
  'the reason decides, not the words: %s',
  (reason) => {
    const message = "backend x is not ready: a; waiting for the scheduler's objects of backend x: b";
    const found = publishedBackend(
      gang({ conditions: [condition('Initialized', 'False', { reason, message })] }),
      base,
    );
    expect([found.ready, found.objectsExist]).toEqual([
      reason !== 'BackendNotReady',
      reason === 'Unschedulable',
    ]);
    const other = condition('Initialized', 'False', { reason: 'PodGangPodsCreationPending', message });
    expect(publishedBackend(gang({ conditions: [other] }), base)).toEqual(base);
  },
);

test('another’s words, or none, tell nothing', () => {
  expect(publishedBackend(gang(), base)).toEqual(base);
  expect(publishedBackend(gang({ conditions: [INITIALIZED] }), base)).toEqual(base);
});
