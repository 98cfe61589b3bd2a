/** What the loop counts of its looks at gangs, and how long a gang takes. */
import { expect, test } from '@jest/globals';
import { Outdated } from '../../../../src/controller/gangs/actions.ts';
import { countingObserver, measured, ReleaseTimer } from '../../../../src/controller/gangs/measured.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import type { GangState } from '../../../../src/gang/records.ts';
import {
  anothers,
  bound,
  FULL,
  gang,
  INITIALIZED,
  NOW,
  pod,
  PODS,
  state,
} from '../../gang/plan/gang-states.ts';
import { FakeClock } from '../../kube/loop/fake-clock.ts';

test('looks are counted by their result, with the time they took; a look that was called off is not', async () => {
  const clock = new FakeClock();
  const seen: [string, number][] = [];
  const metrics = { reconciled: (result: string, seconds: number) => seen.push([result, seconds]) };
  const look = (doing: () => Promise<undefined>, signal = new AbortController().signal): Promise<unknown> =>
    measured(doing, metrics as never, clock)('ml/train', signal).catch((error: unknown) => error);
  const after = (ms: number, thrown?: Error) => async () => {
    await clock.pass(ms);
    if (thrown !== undefined) throw thrown;
    return undefined;
  };
  expect(await look(after(250))).toBeUndefined();
  expect(await look(after(500, new Outdated('409')))).toBeInstanceOf(Outdated);
  expect(await look(after(1_000, new Error('503')))).toEqual(new Error('503'));
  expect(await look(after(0, new Error('ending')), AbortSignal.abort())).toEqual(new Error('ending'));
  expect(seen).toEqual([
    ['ok', 0.25],
    ['outdated', 0.5],
    ['error', 1],
  ]);
});

const WHOLE = gang({ groups: FULL, conditions: [INITIALIZED] });
const FREE = [bound('leader-0'), bound('workers-0'), bound('workers-1')];

/** What the timer says of one moment after the other, each 100 ms after the one before. */
const times = (...moments: readonly Partial<GangState>[]): (number | undefined)[] => {
  const timer = new ReleaseTimer();
  return moments.map((parts, n) => {
    const moment = state({ now: NOW + 100 * n, ...parts });
    return timer.observe('ml/train', moment, planGang(moment));
  });
};

test.each<[string, readonly Partial<GangState>[], readonly (number | undefined)[]]>([
  [
    'from complete to the last gate',
    [
      { pods: PODS.slice(0, 2) },
      {},
      { gang: WHOLE },
      { gang: WHOLE, pods: [...FREE.slice(0, 2), pod('workers-1')] },
      { gang: WHOLE, pods: FREE },
      { gang: WHOLE, pods: FREE },
    ],
    [undefined, undefined, undefined, undefined, 300, undefined],
  ],
  [
    'again where a Pod was replaced',
    [
      { gang: WHOLE, pods: FREE },
      { gang: WHOLE, pods: [...FREE.slice(0, 2), pod('workers-1')] },
      { gang: WHOLE, pods: FREE },
    ],
    [undefined, undefined, 100],
  ],
  [
    'from the last time on that it was complete',
    [{}, { pods: PODS.slice(0, 2) }, {}, { gang: WHOLE, pods: FREE }],
    [undefined, undefined, undefined, 100],
  ],
  [
    'of one that went away nothing',
    [{}, { gang: 'missing' }, { gang: WHOLE, pods: FREE }],
    [undefined, undefined, undefined],
  ],
  [
    'of one that waits for a base gang nothing',
    [{ pods: PODS.map((one) => ({ ...one, baseGang: 'base' })) }, { gang: WHOLE, pods: FREE }],
    [undefined, undefined],
  ],
  [
    'of others’ gangs nothing',
    [{ notOurs: anothers('Grove') }, { gang: WHOLE, pods: FREE, notOurs: anothers('Grove') }],
    [undefined, undefined],
  ],
])('the time of a gang: %s', (_, moments, expected) => {
  expect(times(...moments)).toEqual(expected);
});

test('a status that was written counts for its backend, where that is one that is enabled', () => {
  const operated: unknown[] = [];
  const backends = { operated: (...what: unknown[]) => void operated.push(what) };
  const observer = countingObserver({} as never, backends, ['kai-scheduler']);
  observer.statusWritten?.('kai-scheduler', true, 0.1);
  observer.statusWritten?.('kai-scheduler', false, 0.2);
  observer.statusWritten?.('whatever-a-label-says', true, 0.3);
  expect(operated).toEqual([
    ['kai-scheduler', 'status_update', true, 0.1],
    ['kai-scheduler', 'status_update', false, 0.2],
  ]);
});
