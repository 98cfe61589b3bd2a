import { expect, test } from '@jest/globals';
import { Begun } from '../../../../src/cli/serve/begun.ts';

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function begun() {
  const [told, log]: [unknown[], string[]] = [[], []];
  const all = new Begun((error) => told.push(error));
  const ends =
    (what: string): (() => Promise<void>) =>
    async () => {
      await soon();
      log.push(what);
    };
  return { all, told, log, ends };
}

test('nothing waits for what takes long: the loop ends while reviews are drained', async () => {
  const { all, log, ends } = begun();
  let drained = (): void => undefined;
  all.endsLast(ends('modules'));
  all.endsTogether(ends('loop'));
  all.endsTogether(() =>
    new Promise<void>((resolve) => (drained = resolve)).then(() => void log.push('drain')),
  );
  all.endsLast(ends('forecasts'));
  const ended = all.end().then(() => log.push('all'));
  await soon();
  await soon();
  expect(log).toEqual(['loop']);
  drained();
  await ended;
  expect(log).toEqual(['loop', 'drain', 'forecasts', 'modules', 'all']);
});

test('each failure is told, the first is thrown, and only when everything is over', async () => {
  const { all, told, log, ends } = begun();
  all.endsLast(ends('modules'));
  all.endsLast(() => Promise.reject(new Error('the forecasts')));
  all.endsTogether(() => {
    throw new Error('the drain');
  });
  all.endsTogether(ends('loop'));
  await expect(all.end()).rejects.toThrow('the drain');
  expect(told).toEqual([new Error('the drain'), new Error('the forecasts')]);
  expect(log).toEqual(['loop', 'modules']);
});

const STEPS = ['modules', 'rotator', 'loop', 'fleet', 'forecasts'];
test.each(STEPS.map((failing, at) => [failing, STEPS.slice(0, at)] as const))(
  'where %s cannot start, what began before it ends, and its error is thrown even if that fails',
  async (failing, before) => {
    const { all, told, log, ends } = begun();
    const start = all.orEnd(async () => {
      for (const step of STEPS) {
        await soon();
        if (step === failing) throw new Error(`${step}: no`);
        if (/loop|fleet/.test(step)) all.endsTogether(ends(step));
        else all.endsLast(ends(step));
        if (step === 'loop') all.endsTogether(() => Promise.reject(new Error('its Lease')));
      }
    });
    await expect(start).rejects.toThrow(`${failing}: no`);
    expect(log.toSorted()).toEqual(before.toSorted());
    expect(told).toEqual(before.includes('loop') ? [new Error('its Lease')] : []);
  },
);

test('what has ended does not end again, and what is not there has ended', async () => {
  const { all, log, ends } = begun();
  all.endsLast(() => undefined);
  all.endsTogether(ends('loop'));
  expect(await all.orEnd(() => Promise.resolve(1))).toBe(1);
  await all.end();
  await all.end();
  expect(log).toEqual(['loop']);
});
