import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { lateness } from './lateness.ts';
import { closeAll, expectGolden, expectStatus, start, until, type Running } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

let running: Running;
beforeAll(
  async () =>
    void (running = await start({ overrides: { times: { headers: 1000, request: 2000, check: 250 } } })),
);
afterAll(closeAll);

/** Sends a byte every `everyMs` until an answer is there; gives it, how long it took, and how late we were ourselves. */
async function dripping(
  bytes: Buffer,
  head: number,
  everyMs = 100,
  { port } = running,
): Promise<{ wire: Wire; ms: number; late: number }> {
  const wire = await Wire.open(port);
  const lateNow = lateness();
  const started = performance.now();
  wire.send(bytes.subarray(0, head));
  for (let at = head; at < bytes.length && wire.unread === '' && !wire.ended; at += 1) {
    wire.send(bytes.subarray(at, at + 1));
    await delay(everyMs);
  }
  return { wire, ms: performance.now() - started, late: lateNow() };
}

const whole = httpRequest(MUTATE_POD, goldenText);
const bodyAt = whole.length - Buffer.byteLength(goldenText);

describe('V04: the deadline of ?timeout', () => {
  test('V04: a stalled decision is answered with 504 within 0.9 s of ?timeout=1s', async () => {
    let release = (): void => undefined;
    const stalled = await start({
      overrides: { beforeDecision: () => new Promise((resolve) => (release = resolve)) },
    });
    const wire = await Wire.open(stalled.port);
    const late = lateness();
    const started = performance.now();
    const answer = await wire.send(httpRequest(`${MUTATE_POD}?timeout=1s`, goldenText)).answer();
    const ms = performance.now() - started;
    expectStatus(answer, 504, /no decision within 750 ms/);
    expect(ms).toBeGreaterThan(700);
    expect(ms - late()).toBeLessThan(900);
    release();
    await until('the slot is free', async () => (await stalled.metric('muster_admission_in_flight')) === 0);
    expect(
      await stalled.metric(
        `muster_admission_requests_total{path="${MUTATE_POD}",operation="unknown",outcome="failed"}`,
      ),
    ).toBe(1);
    wire.destroy();
  });

  test('a body that comes too slowly for ?timeout=1s is answered as well', async () => {
    const bytes = httpRequest(`${MUTATE_POD}?timeout=1s`, goldenText);
    // With the usual times for headers and bodies: those of the others are over first where the machine stands still.
    const patient = await start();
    const head = bytes.length - Buffer.byteLength(goldenText);
    const { wire, ms, late } = await dripping(bytes, head, 50, patient);
    expectStatus(await wire.answer(), 504, /no decision within 750 ms/);
    expect(ms - late).toBeLessThan(1000);
    wire.destroy();
    await patient.alive();
  });
});

describe('V12, V13: a byte at a time', () => {
  test('V12: headers that trickle in are cut off with 408', async () => {
    const { wire, ms, late } = await dripping(whole, 0);
    expectStatus(await wire.answer(), 408, /too slowly/);
    expect(ms).toBeGreaterThan(900);
    expect(ms - late).toBeLessThan(3000);
    await wire.closed();
    await running.alive();
  });

  test('V13: a body that trickles in is cut off with 408', async () => {
    const { wire, ms, late } = await dripping(whole, bodyAt);
    expectStatus(await wire.answer(), 408, /too slowly/);
    expect(ms).toBeGreaterThan(1900);
    expect(ms - late).toBeLessThan(4500);
    await wire.closed();
    await until('the slot is free', async () => (await running.metric('muster_admission_in_flight')) === 0);
    await running.alive();
  });
});

/** What Node's parser refuses, and how. */
const BROKEN: [string, Buffer | string, number, RegExp][] = [
  [
    'V14: Content-Length and Transfer-Encoding',
    httpRequest(MUTATE_POD, goldenText, { headers: { 'Transfer-Encoding': 'chunked' } }),
    400,
    /not valid HTTP/,
  ],
  [
    'V14: Transfer-Encoding that hides chunked',
    `POST ${MUTATE_POD} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    400,
    /not valid HTTP/,
  ],
  [
    'V14: two lengths',
    `POST ${MUTATE_POD} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}  `,
    400,
    /not valid HTTP/,
  ],
  [
    'V15: a header of 20 KiB',
    httpRequest(MUTATE_POD, goldenText, { headers: { 'X-Long': 'x'.repeat(20 * 1024) } }),
    431,
    /larger than 16 KiB/,
  ],
  ['V15: a URL of 20 KiB', httpRequest(`/${'x'.repeat(20 * 1024)}`), 431, /larger than 16 KiB/],
  [
    'V15: an unknown method',
    httpRequest(MUTATE_POD, '', { method: 'FOO' }),
    400,
    /not valid HTTP\/1\.1 \(HPE_INVALID_METHOD\)$/,
  ],
  ['V15: no HTTP at all', 'hello\r\n\r\n', 400, /not valid HTTP/],
  ['V15: a lone newline in a header', `POST / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n`, 400, /not valid HTTP/],
];

describe('V14, V15: what is not HTTP is answered, counted, and its connection closed', () => {
  test.each(BROKEN)('%s', async (_, bytes, code, message) => {
    const series = `muster_http_failures_total{code="${code}"}`;
    const before = await running.metric(series);
    const wire = await Wire.open(running.port);
    const answer = await wire.send(bytes).answer();
    expectStatus(answer, code, message);
    expect(answer.headers['connection']).toBe('close');
    await wire.closed();
    expect(await running.metric(series)).toBe(before + 1);
    await running.alive();
  });

  test.each(BROKEN)('%s: also where the client never closes', async (_, bytes) => {
    const wire = await Wire.open(running.port, { allowHalfOpen: true });
    await wire.send(bytes).answer();
    await until('the server let go of it', async () => (await running.metric('muster_connections')) === 0);
    wire.destroy();
  });
});

test('what a refused sender goes on sending does not take the answer from it', async () => {
  const series = 'muster_http_failures_total{code="431"}';
  const before = await running.metric(series);
  const begun = performance.now();
  const wire = await Wire.open(running.port, { allowHalfOpen: true });
  const header = `POST / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20 * 1024)}`;
  expectStatus(await wire.send(header).answer(), 431, /larger than 16 KiB/);
  for (let more = 0; more < 8; more += 1) {
    await wire.sendAll('x'.repeat(16 * 1024));
    // The server waits for two seconds, which a machine may stand still for.
    if (performance.now() - begun < 2_000) expect(await running.metric('muster_connections')).toBe(1);
  }
  const inTime = performance.now() - begun < 2_000;
  expect(await running.metric(series)).toBe(before + 1);
  await until('the server let go of it', async () => (await running.metric('muster_connections')) === 0);
  if (inTime) expect(wire.error).toBeUndefined();
  wire.destroy();
});

test('a slow sender that never closes is let go of', async () => {
  const wire = await Wire.open(running.port, { allowHalfOpen: true });
  expectStatus(await wire.send(whole.subarray(0, 10)).answer(), 408, /too slowly/);
  await until('the server let go of it', async () => (await running.metric('muster_connections')) === 0);
  wire.destroy();
});

test('a refused sender that never closes is let go of', async () => {
  const wire = await Wire.open(running.port, { allowHalfOpen: true });
  const bytes = httpRequest(MUTATE_POD, '', { headers: { 'Content-Length': '99999999' } });
  expectStatus(await wire.send(bytes).answer(), 413, /larger than/);
  await until('the server let go of it', async () => (await running.metric('muster_connections')) === 0);
  wire.destroy();
});

test('a sender of slow headers may be served before the limit', async () => {
  const { port } = await start();
  const wire = await Wire.open(port);
  wire.send(whole.subarray(0, 20));
  await delay(300); // the slowness is what is tested
  wire.send(whole.subarray(20, bodyAt + 10));
  await delay(300);
  expectGolden(await wire.send(whole.subarray(bodyAt + 10)).answer());
  wire.destroy();
});
