import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { AnswerStream } from '../../../../src/kube/client/answer-stream.ts';
import { FakeClock } from '../loop/fake-clock.ts';

let done: string[];
let controller: Dispatcher.DispatchController;
let stream: AnswerStream;
const texts = async (): Promise<string[] | undefined> =>
  (await stream.take())?.map((piece) => piece.toString());
const comes = (...pieces: readonly string[]): void => {
  for (const piece of pieces) stream.onResponseData(controller, Buffer.from(piece));
};

beforeEach(() => {
  done = [];
  controller = {
    pause: () => done.push('pause'),
    resume: () => done.push('resume'),
    abort: (reason: Error) => done.push(`abort: ${reason.message}`),
  } as unknown as Dispatcher.DispatchController;
  stream = new AnswerStream();
  stream.onRequestStart(controller);
});

test('what came since the last time is taken together, and whoever takes too early waits', async () => {
  stream.onResponseStart(controller, 103, {});
  stream.onResponseStart(controller, 429, { 'retry-after': '7' });
  expect(await stream.head).toEqual({ status: 429, retryAfter: '7' });
  comes('a', 'b', 'c');
  expect(await texts()).toEqual(['a', 'b', 'c']);
  const next = texts();
  comes('d');
  expect(await next).toEqual(['d']);
  comes('e');
  stream.onResponseEnd();
  expect([await texts(), await texts()]).toEqual([['e'], undefined]);
});

test('nothing more is read than a bound, until it is taken', async () => {
  comes('x'.repeat(256 * 1024));
  expect(done).toEqual([]);
  comes('y');
  expect(done).toEqual(['pause']);
  await stream.take();
  expect(done).toEqual(['pause', 'resume']);
});

test('more is waited for, but not where much is there, nor once it is, nor at the end', async () => {
  const clock = new FakeClock();
  let waited = false;
  const wait = async (): Promise<void> => {
    waited = false;
    await stream.gather(clock, 20);
    waited = true;
  };
  const half = 'x'.repeat(32 * 1024);
  comes('a');
  const patient = wait();
  await clock.pass(19);
  expect(waited).toBe(false);
  await clock.pass(1);
  await patient;
  // The clock stands still from here on.
  const early = wait();
  comes(half);
  await nextTurn();
  expect(waited).toBe(false);
  comes(half);
  await early;
  await wait();
  await stream.take();
  const ended = wait();
  stream.onResponseEnd();
  await ended;
});

test('a lost connection is told after what came before it', async () => {
  comes('a');
  stream.onResponseError(controller, new Error('lost'));
  await expect(stream.head).rejects.toThrow('lost');
  expect(await texts()).toEqual(['a']);
  await expect(stream.take()).rejects.toThrow('lost');
});

test('cut, it ends at once; after its end the connection is left alone', async () => {
  const waiting = stream.take();
  stream.cut(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  comes('late');
  await expect(stream.take()).rejects.toThrow('enough');
  expect(done).toEqual(['abort: enough']);

  const early = new AnswerStream();
  early.cut(new Error('before it was sent'));
  early.onRequestStart(controller);
  expect(done).toEqual(['abort: enough', 'abort: before it was sent']);

  const over = new AnswerStream();
  over.onRequestStart(controller);
  over.onResponseEnd();
  over.cut(new Error('nobody reads on'));
  expect(done).toHaveLength(2);
});
