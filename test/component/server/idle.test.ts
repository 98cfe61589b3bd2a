import { afterEach, describe, expect, test } from '@jest/globals';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { lateness } from './lateness.ts';
import { closeAll, expectGolden, start, until } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

afterEach(closeAll);
const request = httpRequest(MUTATE_POD, goldenText);

describe('connections that are silent', () => {
  const times = { headers: 500, request: 1000, check: 100, keepAlive: 3000 };

  test('one that was never used outlives the time for headers, and ends after the time for idleness', async () => {
    const { port } = await start({ overrides: { times } });
    const [early, late] = await Promise.all([Wire.open(port), Wire.open(port)]);
    const started = performance.now();
    await expect(early.closed(1500)).rejects.toThrow(/did not come within 1500 ms/); // three times as long
    expectGolden(await early.send(request).answer());
    await late.closed();
    expect(performance.now() - started).toBeGreaterThan(2900);
    expect(late.unread).toBe('');
    early.destroy();
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
    expect(Math.min(...ages)).toBeGreaterThan(390);
    expect(new Set(ages.map((age) => Math.round(age / 10))).size).toBeGreaterThan(1);
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
