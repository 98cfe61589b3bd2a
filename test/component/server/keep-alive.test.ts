/**
 * In its long form this takes a minute and a half of waiting, on purpose: that nothing happens in a silence is what is tested, with the
 * times that are shipped. All tests of this file wait at the same time.
 */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { inLength } from '../../support/length.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { MUTATE_POD, goldenText } from './bodies.ts';
import { closeAll, expectGolden, start, type Running } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

jest.setTimeout(150_000);

/**
 * An API server closes an idle connection after 90 s. Node's own times, which would close it first where they are left as
 * they are, are 5 s (idle), 10 s (look for late headers at the latest), 60 s (headers) and 300 s (a request): the short
 * form sits out the first two.
 */
const SILENCE_MS = inLength({ short: 12_000, long: 95_000 });
const request = httpRequest(MUTATE_POD, goldenText);

let running: Running;
let used: Wire;
let refused: Wire;
let fresh: Wire;
beforeAll(async () => {
  running = await start();
  [used, refused, fresh] = (await Promise.all([1, 2, 3].map(() => Wire.open(running.port)))) as [
    Wire,
    Wire,
    Wire,
  ];
  expectGolden(await used.send(request).answer());
  expect((await refused.send(httpRequest(MUTATE_POD, '{}')).answer()).status).toBe(400);
  await delay(SILENCE_MS);
}, 120_000);
afterAll(closeAll);

describe('the server never closes an idle connection first', () => {
  const stillServes = async (wire: Wire): Promise<void> => {
    expect({ ended: wire.ended, unread: wire.unread }).toEqual({ ended: false, unread: '' });
    expectGolden(await wire.send(request).answer());
    expect(wire.error).toBeUndefined();
    wire.destroy();
  };
  test(`V19: two requests on one connection, ${SILENCE_MS / 1000} s apart`, () => stillServes(used));
  test('V19: also after a refusal', () => stillServes(refused));
  test('V19: also where nothing was sent yet: Go keeps a connection that it dialled in vain', () =>
    stillServes(fresh));
});
