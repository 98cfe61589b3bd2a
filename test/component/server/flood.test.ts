import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { inLength } from '../../support/length.ts';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { closeAll, expectGolden, start, until, type Running } from './running.ts';
import { Wire, httpRequest, type WireAnswer } from './wire.ts';

afterEach(closeAll);
const request = httpRequest(MUTATE_POD, goldenText);

/** Both ends are in this process. What a test wants beyond its open-file limit is cut down, and said. */
function affordable(wanted: number): number {
  let limit = 1024;
  try {
    limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? limit);
  } catch {
    // no Linux: the usual limit
  }
  const count = Math.min(wanted, Math.floor((limit - 200) / 2));
  if (count < wanted) console.warn(`only ${count} of ${wanted} connections: the open-file limit is ${limit}`);
  return count;
}

interface Latencies {
  readonly kept: number[];
  readonly fresh: number[];
}

/** Between two reviews of those who behave (ms): it is the flood that is to be much. */
const PAUSE = inLength({ short: 20, long: 0 });

/** Golden reviews on kept and on new connections until `done`; the times of each in milliseconds. */
async function measure({ port }: Running, done: () => boolean): Promise<Latencies> {
  const times: Latencies = { kept: [], fresh: [] };
  const kept = await Wire.open(port);
  while (!done()) {
    let started = performance.now();
    expectGolden(await kept.send(request).answer());
    times.kept.push(performance.now() - started);
    started = performance.now();
    const wire = await Wire.open(port);
    expectGolden(await wire.send(request).answer());
    times.fresh.push(performance.now() - started);
    wire.destroy();
    await delay(PAUSE);
  }
  kept.destroy();
  return times;
}

const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * 0.99) - 1)] ?? Infinity;

/** The beginning of a TLS record that never gets its end. */
const HALF_A_HELLO = Buffer.from('16030102000100', 'hex');

/** A connection whose handshake never ends. Tells for how long the server held it. */
function halfOpen(port: number, onClose: (heldMs: number) => void): Socket {
  let connectedAt = performance.now();
  const socket = connect(port, '127.0.0.1', () => {
    connectedAt = performance.now();
    if (Math.random() < 0.5) socket.write(HALF_A_HELLO);
  });
  socket.on('error', () => undefined).on('close', () => onClose(performance.now() - connectedAt));
  return socket.resume();
}

describe('V22: unfinished handshakes', () => {
  const wanted = inLength({ short: 600, long: 2000 });
  test(`V22: ${wanted} of them are closed within the handshake timeout, and reviews are answered meanwhile`, async () => {
    const running = await start();
    const count = affordable(wanted);
    const sockets: Socket[] = [];
    const held: number[] = [];
    // In waves: the kernel queues 511 connections, and makes a client wait for many seconds beyond that.
    const flood = async (): Promise<void> => {
      while (sockets.length < count) {
        const wave = Array.from({ length: 200 }, () => halfOpen(running.port, (ms) => held.push(ms)));
        sockets.push(...wave);
        await Promise.all(wave.map((socket) => once(socket, 'connect')));
      }
    };
    const flooding = flood();
    const started = performance.now();
    const times = await measure(running, () => held.length >= count || performance.now() - started > 40_000);
    await flooding;
    for (const socket of sockets) socket.destroy();
    expect(held.length).toBeGreaterThanOrEqual(count);
    // Node's own times are a minute and more.
    expect(Math.max(...held)).toBeLessThan(20_000);
    // Each took less than that flood does.
    expect(times.fresh.length).toBeGreaterThan(2);
    // How fast is the bench's to say; here nobody waits as long as the slow ones are let live.
    expect({ kept: p99(times.kept) < 3000, fresh: p99(times.fresh) < 3000 }).toEqual({
      kept: true,
      fresh: true,
    });
    await until('no connection is left', async () => (await running.metric('muster_connections')) === 0);
    await running.alive();
  });

  test('new connections get through though every place is taken by a handshake that goes nowhere', async () => {
    const running = await start({ settings: { 'server.webhooks.limits.maxConnections': 40 } });
    const sockets = Array.from({ length: 60 }, () => connect(running.port, '127.0.0.1'));
    let closed = 0;
    for (const socket of sockets)
      socket
        .on('error', () => undefined)
        .on('close', () => (closed += 1))
        .resume();
    await until('the first ones gave way', () => closed >= 20);
    for (let call = 0; call < 10; call += 1) await running.alive();
    for (const socket of sockets) socket.destroy();
  });

  test('known connections do not give way to handshakes, up to three quarters of the places', async () => {
    const running = await start({ settings: { 'server.webhooks.limits.maxConnections': 40 } });
    const wires = await Promise.all(Array.from({ length: 30 }, () => Wire.open(running.port)));
    const allServe = async (): Promise<void> => {
      for (const wire of wires) expectGolden(await wire.send(request).answer());
    };
    await allServe();
    const sockets = Array.from({ length: 30 }, () => connect(running.port, '127.0.0.1'));
    let closed = 0;
    for (const socket of sockets)
      socket
        .on('error', () => undefined)
        .on('close', () => (closed += 1))
        .resume();
    await until('all but ten gave way', () => closed === 20);
    await allServe();
    const another = await Wire.open(running.port);
    expectGolden(await another.send(request).answer());
    for (const socket of [...sockets, ...wires, another]) socket.destroy();
  });

  test('where all places are taken by known connections, the one that was silent for longest gives way', async () => {
    const running = await start({ settings: { 'server.webhooks.limits.maxConnections': 10 } });
    const wires = await Promise.all(Array.from({ length: 10 }, () => Wire.open(running.port)));
    for (const wire of wires) expectGolden(await wire.send(request).answer());
    const [first, second, ...others] = wires;
    // One that is just asking does not.
    first?.send(request.subarray(0, -1));
    await until('it asks', async () => (await running.metric('muster_admission_in_flight')) === 1);
    const newcomer = await Wire.open(running.port);
    expectGolden(await newcomer.send(request).answer());
    await second?.closed();
    for (const wire of others) expectGolden(await wire.send(request).answer());
    expectGolden((await first?.send(request.subarray(-1)).answer()) as WireAnswer);
    expect(await running.metric('muster_connections_evicted_total{standing="known"}')).toBe(1);
    for (const wire of [...wires, newcomer]) wire.destroy();
  });
});

describe('connections that never ask', () => {
  const settings = { 'server.webhooks.limits.maxConnections': 40 };

  test('they give way to those that come, so admission and readiness go on; it is counted and said, not for each', async () => {
    const running = await start({ settings });
    const known = await Wire.open(running.port);
    expectGolden(await known.send(request).answer());
    let ended = 0;
    const silent: Wire[] = [];
    for (let count = 0; count < 60; count += 1) {
      const wire = await Wire.open(running.port);
      wire.socket.once('close', () => (ended += 1));
      silent.push(wire);
    }
    await until('those beyond the limit are closed', () => ended === 21);
    expect(await running.probe('/readyz')).toMatchObject({ status: 200 });
    expect(await running.probe('/healthz')).toMatchObject({ status: 200 });
    for (let call = 0; call < 10; call += 1) await running.alive();
    expectGolden(await known.send(request).answer());
    expect(
      await running.metric('muster_connections_evicted_total{standing="stranger"}'),
    ).toBeGreaterThanOrEqual(21);
    const said = running.lines.filter((line) => line.includes('too many connections: some had to give way'));
    expect(said.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ level: 'warn', stranger: 1, handshake: 0, known: 0, address: '127.0.0.1' }),
    ]);
    for (const wire of [known, ...silent]) wire.destroy();
  });

  test('those of a crowd from one address give way, not those of an address that has few', async () => {
    const running = await start({ settings });
    const crowd = (): Promise<(Wire | undefined)[]> =>
      Promise.all(Array.from({ length: 30 }, () => Wire.open(running.port).catch(() => undefined)));
    // Some of the crowd were there before: however long this takes, it is one of theirs that has been silent for longest.
    const many = await crowd();
    const few = await Promise.all(
      Array.from({ length: 3 }, () => Wire.open(running.port, { localAddress: '127.0.0.2' })),
    );
    many.push(...(await crowd()));
    for (const wire of few) expectGolden(await wire.send(request).answer());
    for (const wire of [...few, ...many]) wire?.destroy();
  });
});

describe('slow clients', () => {
  test('200 of them do not slow the others down, and are all gone within the limits', async () => {
    const running = await start({
      overrides: { times: { headers: 3000, request: 4000, check: 250 } },
    });
    const head = request.length - Buffer.byteLength(goldenText);
    const slow = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const wire = await Wire.open(running.port);
        return { wire, at: index % 2 === 0 ? 1 : head };
      }),
    );
    for (const { wire, at } of slow) wire.send(request.subarray(0, at));
    const started = performance.now();
    let dripped = 0;
    const dripping = setInterval(() => {
      dripped += 1;
      for (const { wire, at } of slow) {
        if (!wire.ended) wire.send(request.subarray(at + dripped - 1, at + dripped));
      }
    }, 100);
    const times = await measure(
      running,
      () => slow.every(({ wire }) => wire.ended) || performance.now() - started > 30_000,
    );
    clearInterval(dripping);
    expect(slow.filter(({ wire }) => !wire.ended)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(15_000);
    const codes = await Promise.all(slow.map(async ({ wire }) => (await wire.answer()).status));
    expect(new Set(codes)).toEqual(new Set([408]));
    // How fast is the bench's to say; here nobody waits as long as the slow ones are let live.
    expect({ kept: p99(times.kept) < 3000, fresh: p99(times.fresh) < 3000 }).toEqual({
      kept: true,
      fresh: true,
    });
    await running.alive();
  });
});
