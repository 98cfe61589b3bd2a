import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { gangPod } from '../../support/pods.ts';
import { MUTATE_POD, golden, goldenText, reviewText } from './bodies.ts';
import { closeAll, expectGolden, expectStatus, start, until, type Running } from './running.ts';
import { Wire, chunk, httpRequest } from './wire.ts';

const CAP = 256 * 1024;
let running: Running;
beforeAll(
  async () => void (running = await start({ settings: { 'server.webhooks.limits.maxBodyBytes': CAP } })),
);
afterAll(closeAll);

const announcing = (length: number): Buffer =>
  httpRequest(MUTATE_POD, '', { headers: { 'Content-Length': String(length) } });
const chunked = (): Buffer =>
  httpRequest(MUTATE_POD, '', { headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' } });
const PIECE = chunk(Buffer.alloc(64 * 1024, 0x20));

const nothingInFlight = (): Promise<void> =>
  until(
    'nothing is in flight',
    async () =>
      (await running.metric('muster_admission_in_flight')) === 0 &&
      (await running.metric('muster_admission_in_flight_bytes')) === 0,
  );

describe('V09: a Content-Length over the cap', () => {
  test('V09: Content-Length over the cap is refused with 413 before the body is read', async () => {
    const wire = await Wire.open(running.port);
    const answer = await wire.send(announcing(CAP + 1)).answer();
    expectStatus(answer, 413, /larger than 262144 bytes; .*maxBodyBytes/);
    expect(answer.headers['connection']).toBe('close');
    await wire.closed();
    expect(wire.error).toBeUndefined();
    await running.alive();
  });

  test('the sender reads its 413 though it was still sending', async () => {
    const length = 8 * 1024 * 1024;
    const piece = Buffer.alloc(256 * 1024, 0x20);
    /** Sends all of it as a client does that reads only then. */
    const slowReader = async (): Promise<{ wire: Wire; ms: number }> => {
      const wire = await Wire.open(running.port);
      const begun = performance.now();
      wire.send(announcing(length));
      wire.socket.pause();
      for (let sent = 0; sent < length && wire.error === undefined; sent += piece.length)
        await wire.sendAll(piece);
      wire.socket.resume();
      return { wire, ms: performance.now() - begun };
    };
    let { wire, ms } = await slowReader();
    // The server waits for two seconds, which a machine may stand still for.
    for (let tries = 0; ms > 1_500 && tries < 5; tries += 1) {
      wire.destroy();
      ({ wire, ms } = await slowReader());
    }
    expectStatus(await wire.answer(), 413, /larger than/);
    expect(wire.error).toBeUndefined();
    wire.destroy();
  });

  test('absurd lengths do no harm', async () => {
    expectStatus(await running.call(announcing(Number.MAX_SAFE_INTEGER)), 413, /larger than/);
    const bytes = httpRequest(MUTATE_POD, '', { headers: { 'Content-Length': '9'.repeat(30) } });
    expect([400, 413]).toContain((await running.call(bytes)).status);
    await running.alive();
  });

  test('exactly the cap is served', async () => {
    const body = goldenText.trimEnd().padEnd(CAP, ' ');
    expectGolden(await running.post(MUTATE_POD, body));
    expectStatus(await running.post(MUTATE_POD, `${body} `), 413, /larger than/);
  });
});

describe('V10: chunked, without a length', () => {
  test('V10: a chunked body is refused with 413 at the cap, while it is still being sent', async () => {
    const wire = await Wire.open(running.port);
    wire.send(chunked());
    let pieces = 0;
    const stop = new AbortController();
    const sender = (async () => {
      while (!stop.signal.aborted && !wire.ended && pieces < 500) {
        await wire.sendAll(PIECE);
        pieces += 1;
      }
    })();
    const answer = await wire.answer();
    stop.abort();
    await sender;
    expectStatus(answer, 413, /larger than/);
    expect(answer.headers['connection']).toBe('close');
    wire.send('0\r\n\r\n');
    await wire.closed();
    expect(wire.error).toBeUndefined();
    await nothingInFlight();
    await running.alive();
  });

  test('a sender that goes on and on is cut off', async () => {
    const wire = await Wire.open(running.port);
    wire.send(chunked());
    const started = performance.now();
    while (!wire.ended && performance.now() - started < 20_000) await wire.sendAll(PIECE);
    expect(performance.now() - started).toBeLessThan(10_000);
    await nothingInFlight();
    await running.alive();
  });

  test('a chunked review within the cap is served', async () => {
    const wire = await Wire.open(running.port);
    wire.send(chunked());
    for (const letter of goldenText.match(/.{1,40}/gs) ?? []) wire.send(chunk(Buffer.from(letter)));
    expectGolden(await wire.send('0\r\n\r\n').answer());
    wire.destroy();
  });
});

describe('V11: escaping that blows a legal object up', () => {
  test('V11: an annotation of 3 MiB of "<" is 18 MiB on the wire and refused with 413 by the default limits', async () => {
    const byDefault = await start();
    const annotations = { note: '<'.repeat(3 * 1024 * 1024) };
    const body = reviewText(golden({ object: gangPod({ annotations }) }));
    expect(body.length).toBeGreaterThan(18 * 1024 * 1024);
    expectStatus(await byDefault.post(MUTATE_POD, body), 413, /larger than 8388608 bytes/);
    await byDefault.alive();
  });
  test('an object of 1 MiB of "<" passes', async () => {
    const byDefault = await start();
    const annotations = { note: '<'.repeat(1024 * 1024) };
    expectGolden(await byDefault.post(MUTATE_POD, reviewText(golden({ object: gangPod({ annotations }) }))));
  });
});

test('bodies whose sender leaves are forgotten', async () => {
  const wires = await Promise.all(Array.from({ length: 20 }, () => Wire.open(running.port)));
  for (const [index, wire] of wires.entries()) {
    wire.send(index % 2 === 0 ? announcing(100_000) : chunked(), index % 2 === 0 ? 'x'.repeat(500) : PIECE);
  }
  await until('all are in flight', async () => (await running.metric('muster_admission_in_flight')) === 20);
  expect(await running.metric('muster_admission_in_flight_bytes')).toBeGreaterThan(1_000_000);
  for (const wire of wires) wire.destroy();
  await nothingInFlight();
  await until('their connections are gone', async () => (await running.metric('muster_connections')) === 0);
  await running.alive();
});
