import { connect as dial } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { closeAll, expectGolden, start, until, type Running } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

afterEach(closeAll);
const request = httpRequest(MUTATE_POD, goldenText);
const draining = (seconds: number, maxSeconds: number): Promise<Running> =>
  start({
    settings: { 'server.webhooks.drain.seconds': seconds, 'server.webhooks.drain.maxSeconds': maxSeconds },
  });

describe('V55: a drain', () => {
  test('V55: what is in flight is answered, idle connections stay until their next answer, new ones are taken', async () => {
    const running = await draining(0.5, 20);
    const [inFlight, idle] = await Promise.all([Wire.open(running.port), Wire.open(running.port)]);
    expectGolden(await idle.send(request).answer());
    inFlight.send(request.subarray(0, -1));
    await until('it is in flight', async () => (await running.metric('muster_admission_in_flight')) === 1);

    const started = performance.now();
    let ended = false;
    const drained = running.program.drain().then(() => (ended = true));
    const probe = await running.probe('/readyz');
    expect(probe.status).toBe(503);
    expect(probe.text).toContain('[-]not-draining failed');
    expect((await running.probe('/healthz')).status).toBe(200);

    // New connections all along, each ended by its answer.
    for (let last = 0; last < 1000; last = performance.now() - started) {
      const wire = await Wire.open(running.port);
      const answer = await wire.send(request).answer();
      expectGolden(answer);
      expect(answer.headers['connection']).toBe('close');
      await wire.closed();
      expect(wire.error).toBeUndefined();
    }
    expect({ ended, idle: idle.ended }).toEqual({ ended: false, idle: false });

    for (const [wire, rest] of [
      [inFlight, request.subarray(-1)],
      [idle, request],
    ] as const) {
      const answer = await wire.send(rest).answer();
      expectGolden(answer);
      expect(answer.headers['connection']).toBe('close');
      await wire.closed();
      expect(wire.error).toBeUndefined();
    }
    await drained;
    await expect(Wire.open(running.port)).rejects.toThrow(/ECONNREFUSED/);
  });

  test('it lasts drain.seconds even where nothing is open', async () => {
    const running = await draining(0.7, 20);
    const started = performance.now();
    const drained = running.program.drain();
    await running.alive();
    await drained;
    expect(performance.now() - started).toBeGreaterThan(690);
  });

  test('it ends after drain.maxSeconds whatever is open', async () => {
    const running = await draining(0, 1);
    const wires = await Promise.all([1, 2].map(() => Wire.open(running.port)));
    wires[0]?.send(request.subarray(0, -1));
    const silent = dial(running.port, '127.0.0.1').on('error', () => undefined);
    await until('they are there', async () => (await running.metric('muster_connections')) === 2);
    const started = performance.now();
    await running.program.drain();
    expect(performance.now() - started).toBeGreaterThan(990);
    expect(performance.now() - started).toBeLessThan(20_000);
    for (const wire of [...wires, silent]) wire.destroy();
  });
});

test('closing ends at once, also while connections come in', async () => {
  const running = await start();
  let stop = false;
  const knocking = Array.from({ length: 8 }, async () => {
    while (!stop) await running.call(request).catch(() => undefined);
  });
  await until('they are served', async () => (await running.metric('muster_connections')) > 0);
  const started = performance.now();
  await running.program.close();
  expect(performance.now() - started).toBeLessThan(20_000);
  stop = true;
  await Promise.all(knocking);
});
