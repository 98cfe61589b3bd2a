import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inLength } from '../support/length.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { smallGangs, WITHOUT_NATIVE_GANGS, type SmallGangs } from './support/small-gangs.ts';
import { DEFAULT_LEASE, withMuster, type OnMuster } from './support/with-muster.ts';

const CACHED_PODS = inLength({ short: 500, long: 5_000 });
const SECONDS_AWAY = inLength({ short: [2], long: [0, 4, 12] });
const PODS_OF_A_GANG = 100;
/** From the API server being ready to the gates being off: usually one or two seconds, on a busy machine several. */
const WITHIN_MS = 15_000;

clusterSuite(`the loop with ${CACHED_PODS} Pods, when the API server was away`, () => {
  let plane: ControlPlane;
  let on: OnMuster;
  let small: SmallGangs;

  beforeAll(async () => {
    on = await withMuster({ muster: 'none', plane: WITHOUT_NATIVE_GANGS });
    ({ plane } = on);
    small = smallGangs(plane.client);
    const gangs = Array.from({ length: CACHED_PODS / PODS_OF_A_GANG }, (_, index) => `waiting-${index}`);
    // One Pod short each, so that their Pods are gated for good and cost no more than being known.
    for (const gang of gangs) await small.create(gang, PODS_OF_A_GANG + 1);
    let next = 0;
    const create = async (): Promise<void> => {
      while (next < CACHED_PODS) {
        const index = next++;
        await small.createPod(gangs[Math.floor(index / PODS_OF_A_GANG)] ?? '', index % PODS_OF_A_GANG);
      }
    };
    await Promise.all(Array.from({ length: 16 }, create));
    // With the default times of the Lease: they decide what becomes of a leader who cannot renew.
    await on.start(DEFAULT_LEASE);
    await small.create('first', 1);
    await small.createPod('first', 0);
    await small.untilFree('first', 0, performance.now());
  }, 120_000);
  afterAll(() => on?.close(), 60_000);

  test.each(SECONDS_AWAY)(
    'away for %i s and its start: what came just before and just after is dealt with',
    async (seconds) => {
      const [before, after] = [`before-${seconds}`, `after-${seconds}`];
      for (const gang of [before, after]) {
        await small.create(gang, 2);
        await small.createPod(gang, 0);
      }
      await small.createPod(before, 1);
      await plane.stopApiServer({ kill: true });
      await delay(seconds * 1000);
      await plane.startApiServer();
      const readyAt = performance.now();
      const wasFree = await small.isFree(before, 1);
      await small.createPod(after, 1);
      const took = await Promise.all([before, after].map((gang) => small.untilFree(gang, 1, readyAt)));
      process.stderr.write(
        `API server away for ${seconds} s and its start, ${CACHED_PODS} Pods known: gates off after ready ` +
          `${took.join(' and ')} ms${wasFree ? ' (the first had been off before)' : ''}\n`,
      );
      expect(Math.max(...took)).toBeLessThanOrEqual(WITHIN_MS);
    },
    90_000,
  );
});
