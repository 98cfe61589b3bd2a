import { afterEach, describe, expect, test } from '@jest/globals';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { closeAll, expectGolden, expectStatus, start, until, type Running } from './running.ts';
import { Wire, httpRequest, type WireAnswer } from './wire.ts';

afterEach(closeAll);

const BYTES = {
  'server.webhooks.limits.maxInFlightBytes': 10_000,
  'server.webhooks.limits.maxBodyBytes': 10_000,
};
const request = httpRequest(MUTATE_POD, goldenText);
const announcing = (length: number): Buffer =>
  httpRequest(MUTATE_POD, '', { headers: { 'Content-Length': String(length) } });

/** What makes an API server send the same review again by itself, over another connection. */
async function expectRetryable(wire: Wire, answer: WireAnswer, message: RegExp): Promise<void> {
  expectStatus(answer, 503, message);
  expect(answer.headers['retry-after']).toMatch(/^[0-9]{1,2}$/);
  expect(answer.headers['connection']).toBe('close');
  await wire.closed();
  expect(wire.error).toBeUndefined();
}

const refused = async (running: Running, bytes: Buffer, message: RegExp): Promise<void> => {
  const wire = await Wire.open(running.port);
  await expectRetryable(wire, await wire.send(bytes).answer(), message);
};

/** A server that decides upon nothing before it is told to: one whose body is still coming gives way after a second. */
async function deciding(
  settings: Readonly<Record<string, unknown>>,
): Promise<{ running: Running; decide: () => void }> {
  const gate = Promise.withResolvers<void>();
  const running = await start({ settings, overrides: { beforeDecision: () => gate.promise } });
  return { running, decide: gate.resolve };
}

/** A review of so many bytes, which may be held for as long as any. */
const patient = (length = 0): Buffer =>
  httpRequest(`${MUTATE_POD}?timeout=30s`, goldenText.padEnd(length, ' '));

/** Reviews that are under way and held there. */
async function holding(running: Running, count: number): Promise<Wire[]> {
  const wires = await Promise.all(Array.from({ length: count }, () => Wire.open(running.port)));
  for (const wire of wires) wire.send(patient());
  await until(
    'they are in flight',
    async () => (await running.metric('muster_admission_in_flight')) === count,
  );
  return wires;
}

describe('V54: more than the limits is refused so that it is sent again', () => {
  test('V54: too many requests: 503, an integer Retry-After, Connection: close', async () => {
    const { running, decide } = await deciding({ 'server.webhooks.limits.maxInFlight': 3 });
    const held = await holding(running, 3);
    await refused(running, request, /3 requests in flight, at most 3; the API server retries/);
    await refused(running, request, /3 requests in flight/);
    expect(await running.metric('muster_admission_shed_total{reason="requests"}')).toBe(2);
    // Those that were let in are decided upon, and then there is room again.
    decide();
    for (const wire of held) expectGolden(await wire.answer());
    await running.alive();
    for (const wire of held) wire.destroy();
  });

  test('V54: too many announced bytes: 503, an integer Retry-After, Connection: close', async () => {
    const { running, decide } = await deciding(BYTES);
    const held = await Wire.open(running.port);
    held.send(patient(9_900));
    await until(
      'they are counted',
      async () => (await running.metric('muster_admission_in_flight_bytes')) === 9_900,
    );
    await refused(running, request, /9900 bytes of reviews in flight, at most 10000/);
    expect(await running.metric('muster_admission_shed_total{reason="bytes"}')).toBe(1);
    decide();
    expectGolden(await held.answer());
    held.destroy();
    await until(
      'they are given back',
      async () => (await running.metric('muster_admission_in_flight_bytes')) === 0,
    );
    await running.alive();
  });

  test('V54: too many bytes without a length: the one that goes beyond is refused', async () => {
    const { running, decide } = await deciding(BYTES);
    const held = await Wire.open(running.port);
    held.send(patient(6_000));
    await until(
      'they are counted',
      async () => (await running.metric('muster_admission_in_flight_bytes')) === 6_000,
    );
    const wire = await Wire.open(running.port);
    const headers = { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' };
    wire.send(httpRequest(MUTATE_POD, '', { headers }), `1400\r\n${' '.repeat(0x1400)}\r\n0\r\n\r\n`);
    await expectRetryable(wire, await wire.answer(), /bytes of reviews in flight/);
    decide();
    expectGolden(await held.answer());
    held.destroy();
    await running.alive();
  });

  test('V54: a client that tries again as told gets every review through', async () => {
    const { running, decide } = await deciding({ 'server.webhooks.limits.maxInFlight': 2 });
    const held = await holding(running, 2);
    let shed = 0;
    const persistent = async (): Promise<void> => {
      for (;;) {
        const answer = await running.call(request);
        if (answer.status === 200) return expectGolden(answer);
        expect(answer.status).toBe(503);
        if ((shed += 1) === 10) decide();
      }
    };
    await Promise.all(Array.from({ length: 10 }, persistent));
    expect(shed).toBeGreaterThanOrEqual(10);
    for (const wire of held) wire.destroy();
  });
});

test('not ready: 503, an integer Retry-After, Connection: close, until it is', async () => {
  let reason: string | undefined = 'the caches are not filled';
  const running = await start({ notReady: () => reason });
  await refused(running, request, /the caches are not filled; the API server retries/);
  expect(await running.metric('muster_admission_shed_total{reason="not-ready"}')).toBe(1);
  reason = undefined;
  await running.alive();
});

test('what is wrong anyway is not asked for again, however busy it is', async () => {
  const { running, decide } = await deciding({ 'server.webhooks.limits.maxInFlight': 1 });
  const [held] = await holding(running, 1);
  expectStatus(await running.post('/nope', ''), 404, /no such path/);
  expectStatus(await running.call(httpRequest(MUTATE_POD, '', { method: 'GET' })), 405, /POST/);
  expectStatus(await running.call(announcing(99_999_999)), 413, /larger than/);
  decide();
  held?.destroy();
});
