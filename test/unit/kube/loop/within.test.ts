import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { unlessAborted, within } from '../../../../src/kube/loop/deadline.ts';
import { FakeClock } from './fake-clock.ts';

const never = (): Promise<void> => new Promise(() => undefined);

test('gives what the work gives', async () => {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  await expect(within('x', 1_000, signal, () => Promise.resolve(7), clock)).resolves.toBe(7);
});

test('throws what it throws, at once or later', async () => {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  const atOnce = (): never => {
    throw new Error('no');
  };
  await expect(within('x', 1_000, signal, atOnce, clock)).rejects.toThrow('no');
  await expect(
    within('x', 1_000, signal, () => Promise.reject(new Error('later no')), clock),
  ).rejects.toThrow('later no');
});

test('waits no longer than it was told, whatever the work does with its signal', async () => {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  let given: AbortSignal | undefined;
  const result = within('backend x', 30_000, signal, (limit) => ((given = limit), never()), clock);
  const settled = expect(result).rejects.toThrow('backend x did not answer within 30 s');
  await clock.pass(30_000);
  await settled;
  expect(given?.aborted).toBe(true);
});

test('ends with whoever waits for it', async () => {
  const ending = new AbortController();
  const result = within('x', 1_000, ending.signal, never, new FakeClock());
  const settled = expect(result).rejects.toThrow('the controller is stopping');
  ending.abort(new Error('the controller is stopping'));
  await settled;
  await expect(within('x', 1_000, ending.signal, never, new FakeClock())).rejects.toThrow(
    'the controller is stopping',
  );
});

test('leaves nothing with a signal that lives on, as one of a leader does for every gang that it ever synced', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const outer = new AbortController();
  const signals: WeakRef<AbortSignal>[] = [];
  for (let n = 0; n < 20; n += 1) {
    await within('x', 1_000, outer.signal, (limit) => {
      signals.push(new WeakRef(limit));
      return Promise.resolve();
    });
    await unlessAborted(outer.signal, Promise.resolve());
  }
  await turn();
  collect();
  await turn();
  expect(signals.filter((signal) => signal.deref() !== undefined)).toHaveLength(0);
  expect(getEventListeners(outer.signal, 'abort')).toHaveLength(0);
});
