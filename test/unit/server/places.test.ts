import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Socket } from 'node:net';
import type { Connection, Standing } from '../../../src/server/connection.ts';
import { Places } from '../../../src/server/places.ts';

interface Named extends Connection {
  readonly name: string;
}

/** Places for `max`, taken by newcomers one after the other. */
function placesFor(max: number) {
  const places = new Places(max);
  const gone: string[] = [];
  let time = 0;
  /** Somebody comes, whoever has to goes, and it gets as far as `standing`. */
  const come = (name: string, address: string, standing: Standing = 'handshake', busy = false): Named => {
    const connection: Named = {
      ...{ name, peer: places.peer(address), standing: 'handshake', socket: {} as Socket },
      ...{ refusal: undefined, retireAt: Infinity, usedAt: (time += 1), busy },
    };
    places.take(connection);
    const leaves = places.givesWayTo(connection) as Named | undefined;
    if (leaves !== undefined) {
      places.leave(leaves);
      gone.push(leaves.name);
    }
    if (leaves !== connection) places.move(connection, standing);
    return connection;
  };
  /** `count` of them, named by the address and a number from 1 on. */
  const several = (count: number, address: string, standing?: Standing): Named[] =>
    Array.from({ length: count }, (_, index) => come(`${address}${index + 1}`, address, standing));
  const wait = (ms: number): void => void (time += ms);
  return { places, gone, come, several, wait };
}

describe('who gives way', () => {
  test('nobody, as long as there is room', () => {
    const { gone, several } = placesFor(8);
    several(4, 'a', 'known');
    several(4, 'b', 'stranger');
    expect(gone).toEqual([]);
  });

  test('of what is not known above a quarter: the oldest of the address that has the most', () => {
    const { gone, several, come } = placesFor(12);
    several(4, 'api', 'known');
    several(2, 'b', 'stranger');
    several(6, 'a', 'stranger');
    several(2, 'api');
    come('newer', 'api');
    expect(gone).toEqual(['a1', 'a2', 'a3']);
  });

  test('handshakes count as strangers do', () => {
    const { gone, several, come } = placesFor(12);
    several(3, 'b', 'stranger');
    several(2, 'a', 'stranger');
    several(2, 'a');
    several(5, 'api', 'known');
    come('new', 'api');
    expect(gone).toEqual(['a1']);
  });

  test('before that the oldest that has asked nothing for a second, whoever’s it is', () => {
    const { gone, several, come, wait } = placesFor(6);
    several(1, 'few', 'stranger');
    wait(1000);
    several(5, 'burst');
    come('new', 'burst');
    come('newer', 'burst');
    expect(gone).toEqual(['few1', 'burst1']);
  });

  test('one that asks nothing before one that does', () => {
    const { gone, come } = placesFor(4);
    come('slow', 'a', 'stranger', true);
    come('silent', 'a', 'stranger');
    come('known', 'b', 'known');
    come('known too', 'b', 'known');
    come('new', 'b');
    expect(gone).toEqual(['silent']);
  });

  test('where nearly all are known, the one that was silent for longest, of the heaviest address, and none that is busy', () => {
    const { gone, several, come } = placesFor(8);
    several(2, 'b', 'known');
    const [first, second] = several(6, 'a', 'known');
    if (first) first.busy = true;
    if (second) second.usedAt = 1000;
    come('new', 'c');
    expect(gone).toEqual(['a3']);
  });

  test('where all are busy, the newcomer', () => {
    const { gone, come } = placesFor(2);
    come('one', 'a', 'known', true);
    come('two', 'a', 'known', true);
    come('new', 'b');
    expect(gone).toEqual(['new']);
  });

  test('one that gave way has no place to be moved to, and leaves nothing behind', () => {
    const { places, come } = placesFor(1);
    const one = come('one', 'a', 'stranger');
    const two = come('two', 'b');
    places.move(one, 'known');
    places.leave(one);
    expect(['handshake', 'stranger', 'known'].map((of) => places.taken(of as Standing))).toEqual([1, 0, 0]);
    places.leave(two);
    expect(places.peer('a')).not.toBe(one.peer);
  });
});

test('never more than there are places, and three quarters of them for those that are known, whatever strangers do', () => {
  const arrival = fc.record({
    address: fc.constantFrom('a', 'b', 'c', 'd'),
    standing: fc.constantFrom<Standing>('handshake', 'stranger'),
    busy: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 40 }), fc.array(arrival, { maxLength: 120 }), (max, arrivals) => {
      const { places, gone, come, several } = placesFor(max);
      const api = Math.floor((max * 3) / 4);
      several(api, 'api', 'known');
      for (const { address, standing, busy } of arrivals) {
        come('stranger', address, standing, busy);
        const taken = (['handshake', 'stranger', 'known'] as const).map((of) => places.taken(of));
        expect(taken.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(max);
        expect(taken[2]).toBe(api);
      }
      // Whoever comes for the first time is let in at once.
      come('new', 'new');
      expect(gone.filter((name) => name !== 'stranger')).toEqual([]);
    }),
  );
});
