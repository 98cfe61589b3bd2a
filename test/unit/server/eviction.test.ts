import type { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newPeer, type ConnectionState, type InboundConnection } from '../../../src/server/connection.ts';
import { ConnectionTable } from '../../../src/server/connection-table.ts';
import { evictedFor, evictionObserver } from '../../../src/server/eviction.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';

const connection = (state: ConnectionState, address: string): InboundConnection => ({
  ...{ peer: newPeer(address), state, socket: {} as Socket, refusal: undefined },
  ...{ retireAt: Infinity, usedAt: 0, busy: false },
});

test('each eviction is counted; the log says the first at once, and the others together after ten seconds', async () => {
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    format: 'json',
    sink: { write: (line) => void lines.push(line) },
  });
  const metrics = new Metrics({ version: '0.0.0-test' }, []);
  let now = 0;
  const evicted = evictionObserver(metrics, log, () => now);
  evicted(connection('handshake', '10.0.0.1'));
  for (const standing of ['handshake', 'stranger', 'stranger'] as const) {
    now += 3333;
    evicted(connection(standing, '10.0.0.2'));
  }
  now += 1;
  evicted(connection('known', '10.0.0.3'));
  const said = lines.map((line) => JSON.parse(line) as unknown);
  expect(said).toEqual([
    expect.objectContaining({ handshake: 1, stranger: 0, known: 0, address: '10.0.0.1' }),
    expect.objectContaining({ handshake: 1, stranger: 2, known: 1, address: '10.0.0.3' }),
  ]);
  const { body } = await metrics.expose();
  for (const [standing, count] of [
    ['handshake', 2],
    ['stranger', 2],
    ['known', 1],
  ] as const)
    expect(body).toContain(`muster_connections_evicted_total{standing="${standing}"} ${count}\n`);
});

interface Named extends InboundConnection {
  readonly name: string;
}

/** A table for `max`, filled by newcomers one after the other. */
function tableFor(max: number) {
  const table = new ConnectionTable();
  const gone: string[] = [];
  let time = 0;
  /** Somebody connects, whoever has to is evicted, and the newcomer gets as far as `state`. */
  const come = (name: string, address: string, state: ConnectionState = 'handshake', busy = false): Named => {
    const connection: Named = {
      ...{ name, peer: table.peer(address), state: 'handshake', socket: {} as Socket },
      ...{ refusal: undefined, retireAt: Infinity, usedAt: (time += 1), busy },
    };
    table.add(connection);
    const evicted = evictedFor(connection, table, max) as Named | undefined;
    if (evicted !== undefined) {
      table.remove(evicted);
      gone.push(evicted.name);
    }
    if (evicted !== connection) table.move(connection, state);
    return connection;
  };
  /** `count` of them, named by the address and a number from 1 on. */
  const several = (count: number, address: string, state?: ConnectionState): Named[] =>
    Array.from({ length: count }, (_, index) => come(`${address}${index + 1}`, address, state));
  const wait = (ms: number): void => void (time += ms);
  return { table, gone, come, several, wait };
}

describe('who is evicted', () => {
  test('nobody, as long as there is room', () => {
    const { gone, several } = tableFor(8);
    several(4, 'a', 'known');
    several(4, 'b', 'stranger');
    expect(gone).toEqual([]);
  });

  test('of what is not known above a quarter: the oldest of the address that has the most', () => {
    const { gone, several, come } = tableFor(12);
    several(4, 'api', 'known');
    several(2, 'b', 'stranger');
    several(6, 'a', 'stranger');
    several(2, 'api');
    come('newer', 'api');
    expect(gone).toEqual(['a1', 'a2', 'a3']);
  });

  test('handshakes count as strangers do', () => {
    const { gone, several, come } = tableFor(12);
    several(3, 'b', 'stranger');
    several(2, 'a', 'stranger');
    several(2, 'a');
    several(5, 'api', 'known');
    come('new', 'api');
    expect(gone).toEqual(['a1']);
  });

  test('before that the oldest that has asked nothing for a second, whoever’s it is', () => {
    const { gone, several, come, wait } = tableFor(6);
    several(1, 'few', 'stranger');
    wait(1000);
    several(5, 'burst');
    come('new', 'burst');
    come('newer', 'burst');
    expect(gone).toEqual(['few1', 'burst1']);
  });

  test('one that asks nothing before one that does', () => {
    const { gone, come } = tableFor(4);
    come('slow', 'a', 'stranger', true);
    come('silent', 'a', 'stranger');
    come('known', 'b', 'known');
    come('known too', 'b', 'known');
    come('new', 'b');
    expect(gone).toEqual(['silent']);
  });

  test('where nearly all are known, the one that was silent for longest, of the heaviest address, and none that is busy', () => {
    const { gone, several, come } = tableFor(8);
    several(2, 'b', 'known');
    const [first, second] = several(6, 'a', 'known');
    if (first) first.busy = true;
    if (second) second.usedAt = 1000;
    come('new', 'c');
    expect(gone).toEqual(['a3']);
  });

  test('where all are busy, the newcomer', () => {
    const { gone, come } = tableFor(2);
    come('one', 'a', 'known', true);
    come('two', 'a', 'known', true);
    come('new', 'b');
    expect(gone).toEqual(['new']);
  });

  test('one that was evicted is not moved any more, and leaves nothing behind', () => {
    const { table, come } = tableFor(1);
    const one = come('one', 'a', 'stranger');
    const two = come('two', 'b');
    table.move(one, 'known');
    table.remove(one);
    expect(['handshake', 'stranger', 'known'].map((of) => table.count(of as ConnectionState))).toEqual([
      1, 0, 0,
    ]);
    table.remove(two);
    expect(table.peer('a')).not.toBe(one.peer);
  });
});

test('never more than the table holds, and three quarters of them for those that are known, whatever strangers do', () => {
  const arrival = fc.record({
    address: fc.constantFrom('a', 'b', 'c', 'd'),
    state: fc.constantFrom<ConnectionState>('handshake', 'stranger'),
    busy: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 40 }), fc.array(arrival, { maxLength: 120 }), (max, arrivals) => {
      const { table, gone, come, several } = tableFor(max);
      const api = Math.floor((max * 3) / 4);
      several(api, 'api', 'known');
      for (const { address, state, busy } of arrivals) {
        come('stranger', address, state, busy);
        const taken = (['handshake', 'stranger', 'known'] as const).map((of) => table.count(of));
        expect(taken.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(max);
        expect(taken[2]).toBe(api);
      }
      // Whoever comes for the first time is let in at once.
      come('new', 'new');
      expect(gone.filter((name) => name !== 'stranger')).toEqual([]);
    }),
  );
});
