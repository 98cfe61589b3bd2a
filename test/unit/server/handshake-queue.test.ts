import { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { HandshakeQueue, HELLO_TIMEOUT_MS } from '../../../src/server/handshake-queue.ts';

const KNOWN = '10.0.0.1';

function server() {
  const begun: string[] = [];
  const emitter = new EventEmitter();
  const names = new Map<object, string>();
  emitter.on('connection', (socket: object) => begun.push(names.get(socket) ?? ''));
  new HandshakeQueue(emitter as Server, (address) => address === KNOWN);
  const connect = (name: string, remoteAddress: string): PassThrough => {
    const socket = Object.assign(new PassThrough(), { remoteAddress });
    names.set(socket, name);
    emitter.emit('connection', socket);
    return socket;
  };
  const hello = (name: string, address: string): PassThrough => {
    const socket = connect(name, address);
    socket.write('hello');
    return socket;
  };
  return { begun, connect, hello };
}

/** As many rounds as it takes until `count` were begun. */
async function rounds(begun: readonly string[], count: number): Promise<void> {
  while (begun.length < count) await nextRound();
}

afterEach(() => void jest.useRealTimers());

describe('handshakes', () => {
  test('are begun one in a round', async () => {
    const { begun, hello } = server();
    for (let count = 1; count <= 5; count += 1) hello(String(count), 'a');
    await rounds(begun, 1);
    for (let count = 1; count <= 5; count += 1) {
      expect(begun).toHaveLength(count);
      await nextRound();
    }
    expect(begun).toEqual(['1', '2', '3', '4', '5']);
  });

  test('addresses take turns, and those that are known take turns with all others', async () => {
    const { begun, hello } = server();
    for (const name of ['a1', 'a2', 'a3']) hello(name, 'a');
    for (const name of ['b1', 'b2']) hello(name, 'b');
    for (const name of ['k1', 'k2', 'k3']) hello(name, KNOWN);
    await rounds(begun, 8);
    expect(begun).toEqual(['k1', 'a1', 'k2', 'b1', 'k3', 'a2', 'b2', 'a3']);
  });

  test('who says nothing waits for nobody and holds up nobody', async () => {
    const { begun, connect, hello } = server();
    const silent = connect('silent', 'a');
    hello('heard', 'a');
    await rounds(begun, 1);
    expect(begun).toEqual(['heard']);
    silent.write('hello');
    await rounds(begun, 2);
    expect(begun).toEqual(['heard', 'silent']);
  });

  test('who is gone when it is its turn, or ends without a word, is not begun', async () => {
    const { begun, connect, hello } = server();
    const ended = connect('ended', 'a');
    ended.end();
    const gone = hello('gone', 'a');
    await new Promise((resolve) => gone.once('readable', resolve));
    gone.destroy(new Error('reset'));
    hello('there', 'a');
    await rounds(begun, 1);
    expect(begun).toEqual(['there']);
    expect(ended.destroyed).toBe(true);
  });

  test('who says nothing for five seconds is closed', () => {
    jest.useFakeTimers();
    const { connect } = server();
    const silent = connect('silent', 'a');
    jest.advanceTimersByTime(HELLO_TIMEOUT_MS - 1);
    expect(silent.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(silent.destroyed).toBe(true);
  });
});
