import { expect, test } from '@jest/globals';
import { endTogether } from '../../../../src/cli/serve/serve-loop.ts';

const nobody = (): void => undefined;

test('nothing waits for what takes long: the loop ends while reviews are drained', async () => {
  const log: string[] = [];
  let drained = (): void => undefined;
  const ended = endTogether(
    [
      () => Promise.resolve().then(() => void log.push('loop')),
      () => new Promise<void>((resolve) => (drained = resolve)).then(() => void log.push('drain')),
    ],
    nobody,
  ).then(() => log.push('all'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(log).toEqual(['loop']);
  drained();
  await ended;
  expect(log).toEqual(['loop', 'drain', 'all']);
});

test('each failure is told, the first is thrown, and only when everything is over', async () => {
  const [told, log]: [unknown[], string[]] = [[], []];
  const ended = endTogether(
    [
      () => Promise.reject(new Error('the loop')),
      () => {
        throw new Error('the drain');
      },
      async () => {
        await new Promise((resolve) => setImmediate(resolve));
        log.push('the rest');
      },
    ],
    (error) => told.push(error),
  );
  await expect(ended).rejects.toThrow('the loop');
  expect(told).toEqual([new Error('the loop'), new Error('the drain')]);
  expect(log).toEqual(['the rest']);
});

test('what is not there has ended', async () => {
  await expect(endTogether([() => undefined], nobody)).resolves.toBeUndefined();
});
