/** What a tenant's many large Pods, sent at once, leave of a round of the event loop to the reviews of everybody else. */
import { IncomingMessage } from 'node:http';
import { afterAll, afterEach, expect, jest, test } from '@jest/globals';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { closeAll, start } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

afterEach(() => void jest.restoreAllMocks());
afterAll(closeAll);

const COUNT = 48;
/** Below a megabyte: alone such a body is read as it comes. */
const LENGTH = 900 * 1024;
/** Under coverage, on a machine that does other things as well, the last of them waits for longer than usual. */
const ANSWER_MS = 60_000;

/** Counts what the server reads of bodies. @returns the most bytes in one round of the event loop so far */
function countRounds(): () => number {
  let [inRound, most] = [0, 0];
  const push = Reflect.get(IncomingMessage.prototype, 'push') as (
    this: IncomingMessage,
    chunk: Buffer | null,
  ) => boolean;
  jest.spyOn(IncomingMessage.prototype, 'push').mockImplementation(function (
    this: IncomingMessage,
    chunk: Buffer | null,
  ) {
    if (inRound === 0) setImmediate(() => (inRound = 0));
    inRound += chunk?.length ?? 0;
    most = Math.max(most, inRound);
    return push.call(this, chunk);
  });
  return () => most;
}

test('no round reads more of them than a megabyte, and of each what was already on its way', async () => {
  const running = await start();
  const wires = await Promise.all(Array.from({ length: COUNT }, () => Wire.open(running.port)));
  const most = countRounds();
  const request = httpRequest(`${MUTATE_POD}?timeout=30s`, goldenText.padEnd(LENGTH, ' '));
  const answers = await Promise.all(wires.map((wire) => wire.send(request).answer(ANSWER_MS)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: COUNT }, () => 200));
  // Of a paused body Node reads on until 64 KiB wait in it.
  expect(most()).toBeLessThanOrEqual(1024 * 1024 + COUNT * 128 * 1024);
  for (const wire of wires) wire.destroy();
});
