/** What the loop counts of its looks at gangs. */
import { expect, test } from '@jest/globals';
import { Outdated } from '../../../../src/controller/gangs/actions.ts';
import { countingObserver, measured } from '../../../../src/controller/gangs/measured.ts';
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

test('a status that was written counts for its backend, where that is one that is enabled', () => {
  const operated: unknown[] = [];
  const backends = { operated: (...what: unknown[]) => void operated.push(what) };
  const observer = countingObserver({} as never, backends, ['kai-scheduler'], {} as never);
  observer.statusWritten?.('kai-scheduler', true, 0.1);
  observer.statusWritten?.('kai-scheduler', false, 0.2);
  observer.statusWritten?.('whatever-a-label-says', true, 0.3);
  expect(operated).toEqual([
    ['kai-scheduler', 'status_update', true, 0.1],
    ['kai-scheduler', 'status_update', false, 0.2],
  ]);
});
