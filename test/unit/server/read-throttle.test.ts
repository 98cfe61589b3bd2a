import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newPeer, type InboundConnection, type Peer } from '../../../src/server/connection.ts';
import {
  ConnectionThrottle,
  mayBeLarge,
  mayBeLong,
  BodyThrottle,
} from '../../../src/server/read-throttle.ts';
import { issueDevelopmentCertificates } from '../../../src/tls/issue.ts';

/** Milliseconds of a request; a turn is full with the fifth. */
const REQUEST = 0.0625;
const FULL = 5;

function pauses({ alone = false } = {}) {
  let now = 0;
  const one = new ConnectionThrottle(
    () => alone,
    () => now,
  );
  const asked = (connection: InboundConnection): void => {
    one.requested(connection);
    now += REQUEST;
  };
  return { asked };
}

function connectionOf(peer: Peer, socket: object): InboundConnection {
  const connection = {
    ...{ peer, state: 'known', socket: socket as Socket, refusal: undefined },
    ...{ retireAt: Infinity, usedAt: 0, busy: false },
  } as InboundConnection;
  peer.read.add(connection);
  return connection;
}

class FakeSocket {
  destroyed = false;
  paused = false;
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
}

function peerOf(address: string, connections: number) {
  const peer = newPeer(address);
  const sockets = Array.from({ length: connections }, () => new FakeSocket());
  const all = sockets.map((socket) => connectionOf(peer, socket));
  /** How many are not read. */
  const paused = (): number => sockets.filter((socket) => socket.paused).length;
  /** The one at this place, which is there. */
  const at = (index: number): InboundConnection => all[index] as InboundConnection;
  return { peer, sockets, at, paused };
}

describe('connections of a peer that asks most', () => {
  test('are not read any more once a turn has lasted for long enough, but for the one that asks', () => {
    const { asked } = pauses();
    const busy = peerOf('busy', 40);
    for (let index = 0; index < FULL - 1; index += 1) asked(busy.at(index));
    expect(busy.paused()).toBe(0);
    asked(busy.at(FULL - 1));
    expect(busy.paused()).toBe(39);
    expect(busy.sockets[FULL - 1]?.paused).toBe(false);
  });

  test('are read again in the turns that follow, eight at a time', async () => {
    const { asked } = pauses();
    const busy = peerOf('busy', 40);
    for (let index = 0; index < FULL; index += 1) asked(busy.at(index));
    const seen = [busy.paused()];
    while (busy.paused() > 0) {
      await nextTurn();
      seen.push(busy.paused());
    }
    expect(seen).toEqual([39, 31, 23, 15, 7, 0]);
    expect(busy.peer.read.size).toBe(40);
  });

  test('of two that wait, each has its turn, and who has left is not waited for', async () => {
    const { asked } = pauses();
    const [one, other] = [peerOf('one', 30), peerOf('other', 30)];
    for (let index = 0; index < FULL - 1; index += 1) asked((index % 2 === 0 ? one : other).at(index));
    asked(one.at(4));
    asked(other.at(5));
    expect([one.paused(), other.paused()]).toEqual([29, 29]);
    for (const socket of one.sockets.slice(0, 20)) socket.destroyed = true;
    await nextTurn();
    expect([one.paused() - 19, other.paused()]).toEqual([10, 25]);
  });

  test('who asks less than its share is read on', () => {
    const { asked } = pauses();
    const [busy, good] = [peerOf('busy', 40), peerOf('good', 3)];
    for (let index = 0; index < FULL; index += 1) asked(busy.at(index));
    asked(good.at(0));
    expect([busy.paused(), good.paused()]).toEqual([39, 0]);
  });

  test('where nobody else is there, nothing is paused', () => {
    const { asked } = pauses({ alone: true });
    const busy = peerOf('busy', 40);
    for (let index = 0; index < 40; index += 1) asked(busy.at(index));
    expect(busy.paused()).toBe(0);
  });
});

describe('over TLS, as Node reads it', () => {
  const ends: (() => void)[] = [];
  afterAll(() => ends.forEach((end) => end()));
  /** Which turn of the event loop it is. */
  const turn = (): number => performance.nodeTiming.uvMetricsInfo.loopCount;

  async function server(onRequest: (socket: Socket) => void) {
    const { key, certificate } = await issueDevelopmentCertificates({
      ...{ dnsNames: ['localhost'], days: 1, now: new Date() },
    });
    const answer = ({ socket }: IncomingMessage, response: ServerResponse): void => {
      onRequest(socket);
      response.end('done');
    };
    const one = createServer({ key, cert: certificate }, answer).listen(0, '127.0.0.1');
    await once(one, 'listening');
    ends.push(() => one.close());
    const { port } = one.address() as AddressInfo;
    return async (): Promise<TLSSocket> => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
      ends.push(() => socket.destroy());
      await once(socket, 'secureConnect');
      return socket;
    };
  }

  test('of twenty requests that have come, as many are taken in a turn as fit into it, and none is lost', async () => {
    const { asked } = pauses();
    const peer = newPeer('busy');
    const known = new Map<Socket, InboundConnection>();
    const turns: number[] = [];
    const open = await server((socket) => {
      turns.push(turn());
      const connection = known.get(socket) ?? connectionOf(peer, socket);
      known.set(socket, connection);
      asked(connection);
    });
    const sockets: TLSSocket[] = [];
    for (let count = 0; count < 20; count += 1) sockets.push(await open());
    const ask = async (): Promise<void> => {
      const answers = sockets.map((socket) => once(socket, 'data'));
      for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await Promise.all(answers);
    };
    // Only now all of them are known.
    await ask();
    turns.length = 0;
    await ask();
    expect(turns).toHaveLength(20);
    const most = Math.max(...turns.map((one) => turns.filter((other) => other === one).length));
    expect(most).toBeLessThanOrEqual(FULL);
  });
});

const KIB = 1024;

/** A body of which any amount is there at once. */
function body(
  reading: BodyThrottle,
  address: string,
  kib: number,
  { isAnswered = () => false, announced = kib }: { isAnswered?: () => boolean; announced?: number } = {},
) {
  const request = new Readable({ read: () => undefined, highWaterMark: 16 * KIB * KIB });
  for (let sent = 0; sent < kib; sent += 16) request.push(Buffer.alloc(16 * KIB));
  request.push(null);
  const headers = { 'content-length': String(announced * KIB) };
  reading.throttle(Object.assign(request, { headers }) as unknown as IncomingMessage, address, isAnswered);
  let read = 0;
  let ended = false;
  request.on('data', (chunk: Buffer) => (read += chunk.length / KIB));
  request.on('end', () => (ended = true));
  return { read: () => read, ended: () => ended };
}

describe('a large body', () => {
  test('is read 256 KiB at a time, and to its end', async () => {
    const one = body(new BodyThrottle(), 'a', 1000, { announced: 2000 });
    const seen = new Set<number>();
    while (!one.ended()) {
      await nextTurn();
      seen.add(one.read());
    }
    expect([...seen].filter((kib) => kib > 0)).toEqual([256, 512, 768, 1008]);
  });

  test('is read 64 KiB at a time once it has its answer, since the rest is thrown away', async () => {
    const one = body(new BodyThrottle(), 'a', 500, { isAnswered: () => one.read() >= 256, announced: 2000 });
    const seen = new Set<number>();
    while (!one.ended()) {
      await nextTurn();
      seen.add(one.read());
    }
    expect([...seen].filter((kib) => kib > 0)).toEqual([256, 320, 384, 448, 512]);
  });

  test('has such parts read once in ten milliseconds, those of all senders together', async () => {
    const reading = new BodyThrottle();
    const startedAt = performance.now();
    const refused = ['a', 'a', 'b', 'c'].map((address) =>
      body(reading, address, 512, { isAnswered: () => true, announced: 2000 }),
    );
    while (refused.some((one) => !one.ended())) await nextTurn();
    expect(refused.map((one) => one.read())).toEqual([512, 512, 512, 512]);
    // Eight parts of each; a timer may be a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThan(4 * 8 * 9);
  });

  test('takes turns with those of other addresses', async () => {
    const reading = new BodyThrottle();
    const many = Array.from({ length: 4 }, () => body(reading, 'a', 2048));
    const other = body(reading, 'b', 1024, { announced: 1025 });
    while (!other.ended()) await nextTurn();
    // Each had its first part at once; from then on `b` had every second turn.
    expect(many.reduce((sum, one) => sum + one.read(), 0)).toBeLessThan(3072);
    while (many.some((one) => !one.ended())) await nextTurn();
    expect(many.map((one) => one.read())).toEqual([2048, 2048, 2048, 2048]);
  });
});

describe('a body of less than a megabyte', () => {
  /** The most that was read in one round, KiB, and what was read in all. */
  async function rounds(bodies: readonly ReturnType<typeof body>[]): Promise<[number, number]> {
    const read = (): number => bodies.reduce((sum, one) => sum + one.read(), 0);
    let [most, before] = [0, 0];
    while (bodies.some((one) => !one.ended())) {
      await nextTurn();
      most = Math.max(most, read() - before);
      before = read();
    }
    return [most, before];
  }

  test('is read as it comes where it is alone, and so is one round after the other', async () => {
    const reading = new BodyThrottle();
    for (let index = 0; index < 3; index += 1) {
      expect(await rounds([body(reading, 'a', 1008)])).toEqual([1008, 1008]);
      await nextTurn();
    }
  });

  test('is read in parts where many come at once, of one address: no round is as long as all of them', async () => {
    const reading = new BodyThrottle();
    const bodies = Array.from({ length: 96 }, () => body(reading, 'a', 912));
    const [most, all] = await rounds(bodies);
    expect(all).toBe(96 * 912);
    // A megabyte, and of each of the others the piece that was already on its way.
    expect(most).toBeLessThanOrEqual(1024 + 96 * 16);
  });

  test('property: whatever comes, all is read, and no round is longer than that', async () => {
    const given = fc.array(
      fc.record({ kib: fc.integer({ min: 4, max: 63 }), of: fc.constantFrom('a', 'b') }),
      {
        minLength: 1,
        maxLength: 40,
      },
    );
    await fc.assert(
      fc.asyncProperty(given, async (some) => {
        const reading = new BodyThrottle();
        const bodies = some.map(({ kib, of }) => body(reading, of, 16 * kib));
        const [most, all] = await rounds(bodies);
        expect(all).toBe(some.reduce((sum, { kib }) => sum + 16 * kib, 0));
        expect(most).toBeLessThanOrEqual(1024 + 16 * some.length + 256);
      }),
      { numRuns: 40 },
    );
  });
});

test.each([
  ['65536', false],
  ['65537', true],
  [undefined, true],
])('a body announced with %s bytes is read in parts beside others: %s', (length, large) => {
  expect(mayBeLarge({ headers: { 'content-length': length } } as IncomingMessage)).toBe(large);
});

test.each([
  [undefined, true],
  ['8192', false],
  [String(KIB * KIB), false],
  [String(KIB * KIB + 1), true],
])('a body announced with %s bytes may be large: %s', (length, long) => {
  expect(mayBeLong({ headers: { 'content-length': length } } as IncomingMessage)).toBe(long);
});
