import { afterEach, describe, expect, test } from '@jest/globals';
import { gangPod } from '../../support/pods.ts';
import { MUTATE_POD, golden, goldenText, reviewText } from './bodies.ts';
import { closeAll, expectGolden, expectStatus, start, until, type Running } from './running.ts';
import { Wire, chunk, httpRequest } from './wire.ts';

afterEach(closeAll);
const request = httpRequest(MUTATE_POD, goldenText);
/** Another address than the one that tests usually call from. */
const STRANGER = { localAddress: '127.0.0.2' };

const strangers = (running: Running, count: number): Promise<Wire[]> =>
  Promise.all(Array.from({ length: count }, () => Wire.open(running.port, STRANGER)));
const inFlight = (running: Running, count: number): Promise<void> =>
  until('they are in flight', async () => (await running.metric('muster_admission_in_flight')) === count);

/** The one that has an answer already. */
async function answeredOf(wires: readonly Wire[]): Promise<Wire> {
  let found: Wire | undefined;
  await until('one is answered', () => (found = wires.find(({ unread }) => unread !== '')) !== undefined);
  return found as Wire;
}

describe('bodies that do not come', () => {
  test('they hold all places for reviews, and give way to another address', async () => {
    const running = await start({ settings: { 'server.webhooks.limits.maxInFlight': 4 } });
    const slow = await strangers(running, 4);
    for (const wire of slow) wire.send(request.subarray(0, -1));
    await inFlight(running, 4);
    for (let call = 0; call < 5; call += 1) await running.alive();
    const gaveWay = await answeredOf(slow);
    expectStatus(await gaveWay.answer(), 503, /4 requests in flight, at most 4; the API server retries/);
    expect(await running.metric('muster_admission_shed_total{reason="requests"}')).toBe(1);
    // The others are still served, once they have sent the rest.
    for (const wire of slow.filter((one) => one !== gaveWay)) {
      expectGolden(await wire.send(request.subarray(-1)).answer());
    }
    for (const wire of slow) wire.destroy();
  });

  test('they announce all the bytes that there are, and give way to another address', async () => {
    const limits = { maxInFlightBytes: 40_000, maxBodyBytes: 10_000 };
    const running = await start({
      settings: Object.fromEntries(
        Object.entries(limits).map(([name, value]) => [`server.webhooks.limits.${name}`, value]),
      ),
    });
    const greedy = await strangers(running, 4);
    const headers = { 'Content-Length': '10000' };
    for (const wire of greedy) wire.send(httpRequest(MUTATE_POD, '', { headers }));
    await inFlight(running, 4);
    await running.alive();
    expectStatus(await (await answeredOf(greedy)).answer(), 503, /40000 bytes of reviews in flight/);
    expect(await running.metric('muster_admission_in_flight_bytes')).toBe(30_000);
    for (const wire of greedy) wire.destroy();
  });
});

describe('bodies that would cost too much', () => {
  test.each([
    ['lists in lists', '['.repeat(4_100_000) + ']'.repeat(4_100_000), /nested more than 256 levels deep/],
    ['lists that never close', '['.repeat(8_200_000), /nested more than 256 levels deep/],
    [
      'empty objects',
      `[${'{},'.repeat(2_700_000)}0]`,
      /\d+ lists, objects and keys in \d+ bytes, at most one in 6/,
    ],
  ])('%s, 8 MB of them: refused at once, many times over', async (_, body, message) => {
    const running = await start();
    for (let call = 0; call < 3; call += 1) {
      // A busy machine may take more than the usual ten seconds for 8 MB.
      expectStatus(await running.post(`${MUTATE_POD}?timeout=30s`, body), 413, message);
      await running.alive();
    }
    expect(await running.metric('muster_http_failures_total{code="413"}')).toBe(3);
  });
});

test('what is nested too deep is refused at its first bytes: the rest is not waited for', async () => {
  const running = await start();
  const wire = await Wire.open(running.port);
  wire.send(httpRequest(MUTATE_POD, '', { headers: { 'Content-Length': '8200000' } }), '['.repeat(1000));
  const answer = await wire.answer();
  expectStatus(answer, 413, /nested more than 256 levels deep/);
  expect(answer.headers['connection']).toBe('close');
  wire.destroy();
});

describe('large reviews', () => {
  /** A gang Pod of about 300 KB, of a namespace of its own. */
  const large = httpRequest(
    MUTATE_POD,
    reviewText(
      golden({ namespace: 'tenant', object: gangPod({ annotations: { note: 'n'.repeat(300_000) } }) }),
    ),
  );

  test('of more than 1 MiB they are put together as they come, with a length and without', async () => {
    const running = await start();
    const text = reviewText(golden({ object: gangPod({ annotations: { note: '\\"n'.repeat(500_000) } }) }));
    expectGolden(await running.post(MUTATE_POD, text));
    const wire = await Wire.open(running.port);
    wire.send(
      httpRequest(MUTATE_POD, '', {
        headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' },
      }),
    );
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 99_999)
      await wire.sendAll(chunk(bytes.subarray(at, at + 99_999)));
    expectGolden(await wire.send('0\r\n\r\n').answer());
    wire.destroy();
  });

  test('they are decided upon, however many come at a time, and small ones do not wait for all of them', async () => {
    const running = await start();
    const tenant = await Promise.all(Array.from({ length: 12 }, () => Wire.open(running.port)));
    const good = await Wire.open(running.port);
    const order: string[] = [];
    const tenants = tenant.map(async (wire) => {
      expectGolden(await wire.send(large).answer());
      order.push('tenant');
    });
    await until('they are in flight', () => running.program.server.connections.size >= 13);
    for (let call = 0; call < 3; call += 1) {
      expectGolden(await good.send(request).answer());
      order.push('good');
    }
    await Promise.all(tenants);
    expect(order.lastIndexOf('good')).toBeLessThan(order.length - 1);
    for (const wire of [...tenant, good]) wire.destroy();
  });
});
