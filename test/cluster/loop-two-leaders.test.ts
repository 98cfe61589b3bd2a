import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inLength } from '../support/length.ts';
import { MUSTER_USER } from '../../src/api/names.ts';
import type { Serving } from '../support/serving.ts';
import { Random } from '../support/random.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { readKubeconfig } from './control-plane/kubeconfig.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { startBinder } from './support/binder.ts';
import { historyOf, KEEPS_HISTORY } from './support/etcd-history.ts';
import { startFaultProxy, type FaultProxy } from './support/fault-proxy.ts';
import { judge, NOTHING_BROKEN } from './support/gang-judge.ts';
import { live, randomLives } from './support/gang-lives.ts';
import { untilAllFormed, unlikeInTheEnd } from './support/gangs-in-the-end.ts';
import { startLoopingReplica } from './support/looping-muster.ts';
import { NAMESPACE } from './support/registered-muster.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

const GANGS_FORMED = inLength({ short: 16, long: 40 });
/** Gangs are begun within this time (ms). */
const BEGUN_WITHIN_MS = inLength({ short: 3_000, long: 8_000 });
/** Writes of one PodGang: two that disagree for a moment must not go on correcting each other (8 to 15 were seen). */
const MOST_WRITES = 25;
/** Far more than it takes to act on what is seen, also on a busy machine. */
const LATE_MS = 1_500;

clusterSuite('two loops at once', () => {
  const seed = Number(process.env['MUSTER_CHAOS_SEED'] ?? Date.now() % 1_000_000);
  const random = new Random(seed);
  let plane: ControlPlane;
  let binder: ReturnType<typeof startBinder>;
  let on: OnMuster;
  const musters: Serving[] = [];
  const proxies: FaultProxy[] = [];

  beforeAll(async () => {
    // The controller manager takes away what belongs to a PodGang that is gone: its successor waits for that.
    on = await withMuster({
      muster: 'admission',
      plane: { controllerManager: true, extraApiServerArgs: KEEPS_HISTORY },
    });
    ({ plane } = on);
    await plane.addNode('node-1', { pods: 10_000 });
    binder = startBinder(plane.client, 'node-1');
    const access = await readKubeconfig(await plane.kubeconfigFor(MUSTER_USER));
    // Both lead, without a Lease. One hears late of Pods, the other of gangs: what one has seen and done is news to the
    // other so much later.
    for (const late of ['pods', 'podgangs']) {
      const proxy = await startFaultProxy(access, on.certificates.path, `late-${late}`);
      proxies.push(proxy);
      proxy.setFates(({ path, watch }) => (watch && path.includes(`/${late}?`) ? { lateMs: LATE_MS } : {}));
      const leaderElection = { enabled: false };
      musters.push(
        await startLoopingReplica(plane, on.certificates.path, { leaderElection }, proxy.kubeconfig),
      );
    }
  }, 120_000);
  afterAll(async () => {
    await binder?.stop();
    for (const muster of musters) await muster.close();
    for (const proxy of proxies) await proxy.close();
    await on?.close();
  }, 60_000);

  test(`come to the same end, and do no harm on the way (MUSTER_CHAOS_SEED=${seed})`, async () => {
    const { client } = plane;
    const lives = randomLives(random, GANGS_FORMED);
    await Promise.all(
      lives.map(async (life) => {
        await delay(random.below(BEGUN_WITHIN_MS));
        await live(life, { client, random, pauseMs: 1_000 });
      }),
    );
    await untilAllFormed(client, lives);
    const history = await historyOf(plane.etcdUrl, NAMESPACE);
    const { broken, gangWrites, ungated } = judge(history);
    const writes = Array.from(gangWrites.values());
    process.stderr.write(
      `two leaders: seed ${seed}, ${ungated} gates off, writes of a gang: ` +
        `mean ${(writes.reduce((a, b) => a + b, 0) / lives.length).toFixed(1)}, most ${Math.max(...writes)}; ` +
        `answers ${proxies.map(({ answers }) => JSON.stringify(Object.fromEntries(answers))).join(' and ')}\n`,
    );
    expect(broken).toEqual(NOTHING_BROKEN);
    expect(unlikeInTheEnd(history, lives)).toEqual([]);
    expect(Math.max(...writes)).toBeLessThanOrEqual(MOST_WRITES);
    // Both took part, or this would prove nothing.
    for (const { answers } of proxies) expect(answers.get('PATCH 200')).toBeGreaterThan(GANGS_FORMED);
  }, 240_000);
});
