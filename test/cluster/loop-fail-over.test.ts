import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_NAMESPACE } from '../../src/api/names.ts';
import type { Serving } from '../../demo/serving.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { grantRights, startLoopingReplica } from './support/looping-muster.ts';
import { certificateDirectory, NAMESPACE } from './support/registered-muster.ts';
import { smallGangs, WITHOUT_NATIVE_GANGS, type SmallGangs } from './support/small-gangs.ts';

/** From the signal to the gates of a gang that was completed just after it. */
const AFTER_KILL_MS = 17_000;
const AFTER_TERM_MS = 3_000;
/** A drain that is far longer than the loop may rest for it. */
const DRAIN = { seconds: 8, maxSeconds: 20 };

clusterSuite('fail-over with the default times of the Lease (15, 10 and 2 s)', () => {
  let plane: ControlPlane;
  let certificates: Awaited<ReturnType<typeof certificateDirectory>>;
  let small: SmallGangs;
  const replicas: Serving[] = [];

  const start = async (): Promise<Serving> => {
    const replica = await startLoopingReplica(plane, certificates.path, {
      leaderElection: { resourceNamespace: MUSTER_NAMESPACE },
      server: { webhooks: { drain: DRAIN } },
    });
    replicas.push(replica);
    const ready = `http://127.0.0.1:${replica.healthPort}/readyz`;
    await until('Muster is ready', async () => (await fetch(ready)).status === 200);
    return replica;
  };
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
    plane = await startControlPlane(WITHOUT_NATIVE_GANGS);
    small = smallGangs(plane.client);
    certificates = await certificateDirectory();
    await grantRights(plane);
    await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  }, 120_000);
  afterAll(async () => {
    for (const replica of replicas) await replica.close();
    await plane?.stop();
    await certificates?.remove();
  }, 60_000);

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
    const fourth = await start();
    expect(await gatesOffAfter('sigkill-again', () => third.kill())).toBeLessThanOrEqual(AFTER_KILL_MS);
    await until('the fourth says that it leads', () => leads(fourth));
  }, 120_000);
});
