import type { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { newPeer, type Connection, type Standing } from '../../../src/server/connection.ts';
import { evictions } from '../../../src/server/evictions.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';

const connection = (standing: Standing, address: string): Connection => ({
  ...{ peer: newPeer(address), standing, socket: {} as Socket, refusal: undefined },
  ...{ retireAt: Infinity, usedAt: 0, busy: false },
});

test('each is counted; the log says the first at once, and the others together after ten seconds', async () => {
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    format: 'json',
    sink: { write: (line) => void lines.push(line) },
  });
  const metrics = new Metrics('0.0.0-test', []);
  let now = 0;
  const gaveWay = evictions(metrics, log, () => now);
  gaveWay(connection('handshake', '10.0.0.1'));
  for (const standing of ['handshake', 'stranger', 'stranger'] as const) {
    now += 3333;
    gaveWay(connection(standing, '10.0.0.2'));
  }
  now += 1;
  gaveWay(connection('known', '10.0.0.3'));
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
