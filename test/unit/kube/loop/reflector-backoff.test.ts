import { expect, test } from '@jest/globals';
import { ServerBackoff } from '../../../../src/kube/loop/backoff.ts';
import { REFLECTOR_TIMES } from '../../../../src/kube/loop/reflector-options.ts';
import { ApiError, unreachable } from '../../../../src/kube/client/errors.ts';
import { FakeClock } from './fake-clock.ts';

const away = unreachable('watch pods', 'https://a', new Error('refused'));
const no = (status: number, retryAfter?: number): ApiError =>
  new ApiError('watch pods', { status, message: 'no', retryAfter });

/** The longest waits, as jitter allows them; `pass` lets each go by before the next failure. */
const waits = async (backoff: ServerBackoff, clock: FakeClock, ...errors: unknown[]): Promise<number[]> => {
  const found: number[] = [];
  for (const error of errors) {
    const wait = backoff.after(error);
    found.push(wait);
    await clock.pass(wait);
  }
  return found;
};
const start = (): { clock: FakeClock; backoff: ServerBackoff } => {
  const clock = new FakeClock();
  return { clock, backoff: new ServerBackoff(REFLECTOR_TIMES, clock, () => 1) };
};

test('a restarted API server is asked every second, whatever it says while it starts', async () => {
  const { clock, backoff } = start();
  const outage = Array<unknown>(30).fill(away);
  expect(await waits(backoff, clock, ...outage, no(403), no(429), no(410), no(503))).toEqual([
    250,
    500,
    ...Array<number>(32).fill(1_000),
  ]);
});

test('what it goes on refusing is asked more and more rarely, and as the server asks for', async () => {
  const { clock, backoff } = start();
  const refusals = Array.from({ length: 9 }, () => no(403));
  expect(await waits(backoff, clock, ...refusals)).toEqual([
    500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
  ]);
  expect(await waits(start().backoff, clock, no(429, 7), no(429, 300))).toEqual([7_000, 30_000]);
});

test('after a minute of health it begins from the start, not sooner', async () => {
  const { clock, backoff } = start();
  await waits(backoff, clock, away, away, away);
  backoff.alive();
  await clock.pass(59_000);
  expect(await waits(backoff, clock, away)).toEqual([1_000]);
  backoff.alive();
  await clock.pass(60_000);
  expect(await waits(backoff, clock, away)).toEqual([250]);
});
