import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inLength } from '../support/length.ts';
import type { Serving } from '../support/serving.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { smallGangs, WITHOUT_NATIVE_GANGS, type SmallGangs } from './support/small-gangs.ts';
import { DEFAULT_LEASE, withMuster, type OnMuster } from './support/with-muster.ts';

/**
 * From the signal to the gates of a gang that was completed just after it. Usually these are 16 s and less than one; a
 * busy machine takes longer, and one that has to wait for a Lease that was not given up at least 13 s.
 */
const AFTER_KILL_MS = 40_000;
const AFTER_TERM_MS = 10_000;
/** A drain that is far longer than the loop may rest for it. */
const DRAIN = { seconds: 30, maxSeconds: 40 };

/** Whether a second replica is killed too, which is 15 s more of waiting. */
const AGAIN = inLength({ short: false, long: true });

clusterSuite('fail-over with the default times of the Lease (15, 10 and 2 s)', () => {
  let on: OnMuster;
  let small: SmallGangs;

  const start = (): Promise<Serving> =>
    on.start({ ...DEFAULT_LEASE, server: { webhooks: { drain: DRAIN } } });
  const leads = (replica: Serving): boolean =>
    replica
      .log()
      .filter((line) => 'leads' in line)
      .at(-1)?.['leads'] === true;
  /** What a user sees: his gang is completed just after the leader got the signal. @returns ms until its gates are off */
  const gatesOffAfter = async (gang: string, signal: () => unknown): Promise<number> => {
    await small.create(gang, 2);
    await small.createPod(gang, 0);
    const signalledAt = performance.now();
    signal();
    await small.createPod(gang, 1);
    const took = await small.untilFree(gang, 1, signalledAt);
    process.stderr.write(`fail-over, ${gang}: ${took} ms from the signal to the gates\n`);
    return took;
  };

  beforeAll(async () => {
    on = await withMuster({ muster: 'none', plane: WITHOUT_NATIVE_GANGS });
    small = smallGangs(on.plane.client);
  }, 120_000);
  afterAll(() => on?.close(), 60_000);

  test('SIGTERM: another goes on while the first still drains; SIGKILL: after the Lease ran out', async () => {
    const first = await start();
    await until('the first leads', () => leads(first));
    const second = await start();
    let ended = false;
    const onTerm = await gatesOffAfter('sigterm', () => first.terminate().then(() => (ended = true)));
    expect(ended).toBe(false);
    await until('the second says that it leads', () => leads(second));
    expect(onTerm).toBeLessThanOrEqual(AFTER_TERM_MS);

    const third = await start();
    expect(await gatesOffAfter('sigkill', () => second.kill())).toBeLessThanOrEqual(AFTER_KILL_MS);
    await until('the third says that it leads', () => leads(third));
    if (!AGAIN) return;
    const fourth = await start();
    expect(await gatesOffAfter('sigkill-again', () => third.kill())).toBeLessThanOrEqual(AFTER_KILL_MS);
    await until('the fourth says that it leads', () => leads(fourth));
  }, 120_000);
});
