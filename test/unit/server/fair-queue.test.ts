import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { FairQueue, type Steps } from '../../../src/server/fair-queue.ts';

/** Milliseconds. So many small ones fill a round. */
const SMALL = 0.125;
const FULL = 4;

function turns() {
  const done: string[] = [];
  let now = 0;
  const one = new FairQueue(() => now);
  const take = (key: string, name: string, ms = SMALL): void =>
    one.push(key, () => {
      now += ms;
      done.push(name);
    });
  function* inSteps(name: string, steps: number, ms: number): Steps {
    for (let step = 1; step <= steps; step += 1) {
      now += ms;
      done.push(steps === 1 ? name : `${name}/${step}`);
      if (step < steps) yield;
    }
  }
  const takeLarge = (key: string, name: string, steps = 1, ms = 1): void =>
    one.pushLarge(key, () => inSteps(name, steps, ms));
  const fill = (): void => {
    for (let count = 0; count < FULL; count += 1) take('busy', 'first');
    done.length = 0;
  };
  return { done, take, takeLarge, fill };
}

describe('turns', () => {
  test('a small review has its turn at once, until the round is full', async () => {
    const { done, take } = turns();
    for (let count = 1; count <= FULL + 1; count += 1) take('a', String(count));
    expect(done).toEqual(['1', '2', '3', '4']);
    await nextRound();
    expect(done).toHaveLength(FULL + 1);
    take('a', 'again at once');
    expect(done).toHaveLength(FULL + 2);
  });

  test('what is dear fills a round by itself', async () => {
    const { done, take } = turns();
    for (const name of ['1', '2', '3']) take('a', name, 2);
    expect(done).toEqual(['1']);
    await nextRound();
    expect(done).toEqual(['1', '2']);
    await nextRound();
    expect(done).toEqual(['1', '2', '3']);
  });

  test('nobody overtakes those who wait, and each peer has one in turn', async () => {
    const { done, take, fill } = turns();
    fill();
    for (const name of ['a1', 'a2', 'a3']) take('a', name);
    take('b', 'b1');
    take('c', 'c1', 0.01);
    expect(done).toEqual([]);
    await nextRound();
    expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  });

  test('large ones come one a round, each namespace in turn, after the small ones', async () => {
    const { done, take, takeLarge, fill } = turns();
    fill();
    for (const name of ['tenant 1', 'tenant 2', 'tenant 3']) takeLarge('tenant', name);
    takeLarge('good', 'good');
    take('a', 'small');
    await nextRound();
    expect(done).toEqual(['small', 'tenant 1']);
    take('a', 'at once');
    await nextRound();
    await nextRound();
    expect(done).toEqual(['small', 'tenant 1', 'at once', 'good', 'tenant 2']);
    await nextRound();
    expect(done.at(-1)).toBe('tenant 3');
  });

  test('a large one is left between its steps, and ended before another is begun', async () => {
    const { done, take, takeLarge } = turns();
    takeLarge('tenant', 'large', 5, 0.3);
    takeLarge('good', 'good', 2, 0.3);
    const rounds: string[][] = [];
    while (done.length < 11) {
      const before = done.length;
      take('a', 'small');
      await nextRound();
      rounds.push(done.slice(before));
    }
    expect(rounds).toEqual([
      ['small', 'large/1', 'large/2'],
      ['small', 'large/3', 'large/4'],
      ['small', 'large/5'],
      ['small', 'good/1', 'good/2'],
    ]);
  });

  test('a large one comes though small ones never end', async () => {
    const { done, take, takeLarge } = turns();
    takeLarge('tenant', 'large');
    for (let round = 0; round < 2; round += 1) {
      for (let count = 0; count < 3 * FULL; count += 1) take('a', 'small');
      await nextRound();
    }
    expect(done).toContain('large');
  });
});
