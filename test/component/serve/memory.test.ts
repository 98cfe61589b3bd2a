import { afterEach, expect, jest, test } from '@jest/globals';
import { MUTATE_POD, goldenText } from '../server/bodies.ts';
import { expectGolden, expectStatus, valueOf } from '../server/running.ts';
import { Wire, chunk, httpRequest } from '../server/wire.ts';
import { killAll, serve } from './process.ts';

jest.setTimeout(60_000);
afterEach(killAll);

/** The shipped limit of one body. */
const CAP = 8 * 1024 * 1024;

test('V10: a chunked body costs less than three times the cap until it is refused, and then nothing that lasts', async () => {
  const { ports } = await serve({ seconds: 0, maxSeconds: 1 });
  const rss = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${ports.metrics}/metrics`);
    return valueOf(await response.text(), 'process_resident_memory_bytes');
  };
  const golden = async (): Promise<void> => {
    const wire = await Wire.open(ports.webhooks);
    for (let call = 0; call < 200; call += 1) {
      expectGolden(await wire.send(httpRequest(MUTATE_POD, goldenText)).answer());
    }
    wire.destroy();
  };
  await golden(); // what a process needs to be warm is not what a body costs
  const before = await rss();
  let untilRefused = before;
  let peak = before;
  const headers = { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' };
  const wire = await Wire.open(ports.webhooks);
  wire.send(httpRequest(MUTATE_POD, '', { headers }));
  const piece = chunk(Buffer.alloc(256 * 1024, 0x20));
  let sent = 0;
  while (!wire.ended && sent < 20 * CAP) {
    await wire.sendAll(piece);
    sent += piece.length;
    if (sent % (4 * piece.length) !== 0) continue;
    peak = Math.max(peak, await rss());
    if (wire.unread === '') untilRefused = peak;
  }
  peak = Math.max(peak, await rss());
  expectStatus(await wire.answer(), 413, /larger than/);
  wire.destroy();
  expect(sent).toBeGreaterThan(CAP);
  expect(untilRefused - before).toBeLessThan(3 * CAP);
  // What is still sent is read and dropped, so that the sender sees its answer: garbage, not memory that is held.
  expect(peak - before).toBeLessThan(sent);
  expect(peak - before).toBeLessThan(16 * CAP);
  await golden();
});
