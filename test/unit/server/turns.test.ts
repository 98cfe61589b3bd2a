import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { LARGE_BYTES } from '../../../src/server/load-limits.ts';
import { Turns } from '../../../src/server/turns.ts';

const SMALL = 32 * 1024;
/** So many small ones fill a round. */
const FULL = 8;

function turns() {
  const done: string[] = [];
  const one = new Turns();
  const take = (key: string, name: string, bytes = SMALL): void =>
    one.take(key, bytes, () => void done.push(name));
  const fill = (): void => {
    for (let count = 0; count < FULL; count += 1) take('busy', 'first');
    done.length = 0;
  };
  return { done, take, fill };
}

describe('turns', () => {
  test('a small review has its turn at once, until the round is full', async () => {
    const { done, take } = turns();
    for (let count = 1; count <= FULL + 1; count += 1) take('a', String(count));
    expect(done).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
    await nextRound();
    expect(done).toHaveLength(FULL + 1);
    take('a', 'again at once');
    expect(done).toHaveLength(FULL + 2);
  });

  test('nobody overtakes those who wait, and each peer has one in turn', async () => {
    const { done, take, fill } = turns();
    fill();
    for (const name of ['a1', 'a2', 'a3']) take('a', name);
    take('b', 'b1');
    take('c', 'c1', 1);
    expect(done).toEqual([]);
    await nextRound();
    expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  });

  test('large ones come one a round, each namespace in turn, after the small ones', async () => {
    const { done, take, fill } = turns();
    fill();
    for (const name of ['tenant 1', 'tenant 2', 'tenant 3']) take('tenant', name, LARGE_BYTES + 1);
    take('good', 'good', LARGE_BYTES + 1);
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

  test('a large one comes though small ones never end', async () => {
    const { done, take } = turns();
    take('tenant', 'large', LARGE_BYTES + 1);
    for (let round = 0; round < 2; round += 1) {
      for (let count = 0; count < 3 * FULL; count += 1) take('a', 'small');
      await nextRound();
    }
    expect(done).toContain('large');
  });
});
