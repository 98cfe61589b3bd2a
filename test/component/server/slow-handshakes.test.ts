import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { closeAll, start, until } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await closeAll();
});

/** Passes a TLS client's hello on, and keeps what the client sends after the server's answer until it is released. */
async function relayTo(port: number) {
  const state = { closed: false, release: (): void => undefined };
  const relay = createServer((client: Socket) => {
    const server = connect(port, '127.0.0.1');
    const held: Buffer[] = [];
    let isHeld = false;
    state.release = () => {
      isHeld = false;
      for (const bytes of held) server.write(bytes);
    };
    client.on('data', (bytes: Buffer) => void (isHeld ? held.push(bytes) : server.write(bytes)));
    server.once('data', () => (isHeld = true)).pipe(client);
    client.on('error', () => undefined).on('close', () => server.destroy());
    server
      .on('error', () => undefined)
      .on('close', () => {
        state.closed = true;
        client.destroy();
      });
  }).listen(0, '127.0.0.1');
  ends.push(() => relay.close());
  await once(relay, 'listening');
  return { state, port: (relay.address() as AddressInfo).port };
}

// Under TLS 1.3 the client's side of the handshake ends first. An HTTP answer that waited for the server's side was taken for
// the answer to a valid call: an API server short of processors was told that its request was not HTTP.
test('a handshake that takes too long ends without an HTTP answer, and is no HTTP failure', async () => {
  const running = await start();
  const failures = (): Promise<number> => running.metric('muster_http_failures_total{code="400"}');
  const relay = await relayTo(running.port);
  const wire = await Wire.open(relay.port);
  ends.push(() => wire.destroy());
  wire.send(httpRequest(MUTATE_POD, goldenText));
  await until('the time for the handshake is over', async () => relay.state.closed || (await failures()) > 0);
  relay.state.release();
  await expect(wire.answer()).rejects.toThrow(/the connection ended .* received: $/);
  expect(await failures()).toBe(0);
  await running.alive();
});
