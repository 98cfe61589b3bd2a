import { afterEach, describe, expect, test } from '@jest/globals';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { lateness } from './lateness.ts';
import { closeAll, expectGolden, start, until } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

afterEach(closeAll);
const request = httpRequest(MUTATE_POD, goldenText);

describe('connections that are silent', () => {
  const times = { headers: 500, request: 1000, check: 100 };

  test('one that was never used outlives the time for headers', async () => {
    const { port } = await start({ overrides: { times } });
    const wire = await Wire.open(port);
    await expect(wire.closed(1500)).rejects.toThrow(/did not come within 1500 ms/); // three times as long
    expectGolden(await wire.send(request).answer());
    wire.destroy();
  });

  test('one that was never used ends after the time for idleness', async () => {
    const { port } = await start({ overrides: { times: { ...times, keepAlive: 1500 } } });
    // Before the server can have begun to count.
    const started = performance.now();
    const wire = await Wire.open(port);
    await wire.closed();
    expect(performance.now() - started).toBeGreaterThan(1400);
    expect(wire.unread).toBe('');
  });

  test('one byte of a request, and the time for headers counts again', async () => {
    const { port } = await start({ overrides: { times } });
    const wire = await Wire.open(port);
    await expect(wire.closed(1200)).rejects.toThrow(/did not come/);
    const late = lateness();
    const started = performance.now();
    expect((await wire.send('P').answer()).status).toBe(408);
    expect(performance.now() - started - late()).toBeLessThan(2500);
    wire.destroy();
  });
});

describe('connections retire by age', () => {
  test('an answer after that age ends its connection, in an orderly way', async () => {
    const running = await start({ overrides: { times: { retireAfter: 600 } } });
    /** @returns between which ages the connections of a crowd ended */
    const crowd = async (): Promise<{ first: number; last: number }> => {
      // Before the server can have begun to count.
      const opened = performance.now();
      const wires = await Promise.all(Array.from({ length: 8 }, () => Wire.open(running.port)));
      const ages: number[] = [];
      await Promise.all(
        wires.map(async (wire) => {
          let last: string | undefined;
          await until('the answer that ends it', async () => {
            const answer = await wire.send(request).answer();
            expectGolden(answer);
            last = answer.headers['connection'];
            return last === 'close';
          });
          ages.push(performance.now() - opened);
          await wire.closed();
          expect(wire.error).toBeUndefined();
        }),
      );
      return { first: Math.min(...ages), last: Math.max(...ages) };
    };
    let apart = 0;
    // A machine that stands still just then lets all of them end at once.
    for (let tries = 0; apart < 20 && tries < 10; tries += 1) {
      const { first, last } = await crowd();
      expect(first).toBeGreaterThan(390);
      apart = last - first;
    }
    expect(apart).toBeGreaterThanOrEqual(20);
    await running.alive();
  });

  test('an idle connection is not closed for its age', async () => {
    const running = await start({ overrides: { times: { retireAfter: 100 } } });
    const wire = await Wire.open(running.port);
    await expect(wire.closed(600)).rejects.toThrow(/did not come/);
    const answer = await wire.send(request).answer();
    expectGolden(answer);
    expect(answer.headers['connection']).toBe('close');
    await wire.closed();
  });

  test('by default not within seconds', async () => {
    const { port } = await start();
    const wire = await Wire.open(port);
    for (let call = 0; call < 50; call += 1) {
      expect((await wire.send(request).answer()).headers['connection']).toBe('keep-alive');
    }
    wire.destroy();
  });
});
