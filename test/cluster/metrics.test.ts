import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_USER } from '../../src/api/names.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { BY_GANG } from '../../src/controller/watch/gang-view.ts';
import { watchGangs, type GangWatch } from '../../src/controller/watch/gang-watch.ts';
import { isGated } from '../../src/gang/plan/census.ts';
import { metricsAt } from '../support/observed.ts';
import type { Serving } from '../support/serving.ts';
import { readKubeconfig } from './control-plane/kubeconfig.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { startFaultProxy, type FaultProxy } from './support/fault-proxy.ts';
import { startLoopingReplica } from './support/looping-muster.ts';
import { GANGS, NAMESPACE } from './support/registered-muster.ts';
import { smallGangs, WITHOUT_NATIVE_GANGS } from './support/small-gangs.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

/** Gangs of two Pods that become complete at once, how many of them are deleted meanwhile, and how slow each write is. */
const [COMPLETE, DELETED, WRITE_MS] = [20, 4, 150];
/** Gangs of one namespace that are worked on at a time. */
const BUSY = 5;
/** By which two clocks may be apart on a busy machine, for each gang (s); a clock that left the queue out would be by more. */
const APART = 0.3;

clusterSuite('the metrics of a Muster before a slow API server', () => {
  let on: OnMuster;
  let proxy: FaultProxy;
  let muster: Serving;
  let client: KubeClient;
  /** The clock outside: watches of the test's own, and when they showed what, by gang. */
  let outside: GangWatch;
  const [whole, free, gone] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];

  async function watch(): Promise<void> {
    client = createKubeClient(await findConnection({ kubeconfig: on.plane.kubeconfig }));
    outside = watchGangs(client, () => ({}), { namespace: NAMESPACE });
    outside.onPod(({ old, new: now }) => {
      const { gang } = now ?? old;
      const pods = outside.view.pods.byIndex(BY_GANG, `${NAMESPACE}/${gang}`);
      if (pods.length < 2) return;
      if (!whole.has(gang)) whole.set(gang, performance.now());
      if (!free.has(gang) && !pods.some(isGated)) free.set(gang, performance.now());
    });
    outside.onGang(({ old, new: now }) => {
      if (now === undefined) gone.set(old.name, performance.now());
    });
    outside.watches.start();
    await outside.watches.whenSynced();
  }

  const valueIn = (text: string, sample: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${sample} `))
        ?.slice(sample.length),
    );
  /** How late Muster has seen what came to it (s): each scrape has what was since the one before. */
  let musterLate = 0;
  const value = async (sample: string): Promise<number> => {
    const text = await metricsAt(muster.metricsPort);
    musterLate = Math.max(musterLate, valueIn(text, 'nodejs_eventloop_lag_max_seconds'));
    return valueIn(text, sample);
  };

  beforeAll(async () => {
    on = await withMuster({ muster: 'none', plane: WITHOUT_NATIVE_GANGS });
    await watch();
    const access = await readKubeconfig(await on.plane.kubeconfigFor(MUSTER_USER));
    proxy = await startFaultProxy(access, on.certificates.path, 'slow');
    // So that gangs wait for a turn.
    const settings = { controllers: { podGang: { concurrentSyncs: BUSY } } };
    muster = await startLoopingReplica(on.plane, on.certificates.path, settings, proxy.kubeconfig);
    on.before(() => muster.close());
    await until('it leads', async () => (await value('muster_loop_leading')) === 1);
  }, 120_000);
  afterAll(async () => {
    await outside?.watches.stop();
    await client?.close();
    await on?.close();
    await proxy?.close();
  }, 60_000);

  test('the time of releases is that of a clock outside, queue included', async () => {
    const small = smallGangs(on.plane.client);
    const names = Array.from({ length: COMPLETE }, (_, index) => `gang-${index}`);
    await Promise.all(names.map((name) => small.create(name, 2)));
    await Promise.all(names.map((name) => small.createPod(name, 0)));
    await until(
      'all wait for their second Pod',
      async () => (await value('muster_gangs_waiting{reason="PodGangPodsCreationPending"}')) === COMPLETE,
    );
    expect(await value('muster_gangs{state="waiting"}')).toBe(COMPLETE);

    // No write goes through before those that wait behind the first are deleted.
    const deleted = Promise.withResolvers<void>();
    const write = (): Promise<unknown> => deleted.promise.then(() => delay(WRITE_MS));
    proxy.setFates(({ method }) => (method === 'PATCH' ? { after: write() } : {}));
    // How late this process sees what comes to it.
    const late = monitorEventLoopDelay();
    late.enable();
    musterLate = 0;
    const last = names.slice(-DELETED);
    await Promise.all(names.slice(0, -DELETED).map((name) => small.createPod(name, 1)));
    await until(
      'its slots are busy',
      async () => (await value('muster_loop_busy_slots{controller="gangs"}')) >= BUSY,
    );
    expect(await value('muster_kube_requests_in_flight')).toBeGreaterThan(0);
    expect(await value('muster_kube_requests_window')).toBeGreaterThanOrEqual(16);
    expect(await value('muster_loop_slots{controller="gangs"}')).toBe(2 * BUSY);
    await Promise.all(last.map((name) => small.createPod(name, 1)));
    await until(
      'the others have queued',
      async () => (await value('muster_loop_queue_depth')) >= COMPLETE - BUSY && whole.size === COMPLETE,
    );
    await Promise.all(last.map((name) => on.plane.client.ok('DELETE', `${GANGS}/${name}`)));
    deleted.resolve();
    const count = (kind: string): Promise<number> => value(`muster_loop_gang_${kind}_seconds_count`);
    await until(
      'all are released or deleted',
      async () => (await count('release')) + (await count('unreleased')) === COMPLETE,
    );
    proxy.setFates(undefined);
    await until('the watches have told it', () => free.size + gone.size >= COMPLETE);

    const seconds = (ends: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>): number[] =>
      Array.from(ends)
        .filter(([name, end]) => end < (others.get(name) ?? Infinity))
        .map(([name, end]) => (end - (whole.get(name) ?? NaN)) / 1000);
    const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
    const apart = APART + late.max / 1e9 + musterLate;
    const [released, unreleased] = [seconds(free, gone), seconds(gone, free)];
    expect(await count('unreleased')).toBe(unreleased.length);
    expect(unreleased.length).toBeGreaterThan(0);
    process.stderr.write(
      `released after ${released
        .toSorted((a, b) => a - b)
        .map((one) => one.toFixed(2))
        .join(
          ' ',
        )} s; Muster says ${await value('muster_loop_gang_release_seconds_sum')} in all, the clock outside ${sum(released).toFixed(3)}\n`,
    );
    expect(Math.max(...released)).toBeGreaterThan(1);
    expect(Math.abs((await value('muster_loop_gang_release_seconds_sum')) - sum(released))).toBeLessThan(
      apart * released.length,
    );
    expect(Math.abs((await value('muster_loop_gang_unreleased_seconds_sum')) - sum(unreleased))).toBeLessThan(
      apart * unreleased.length,
    );
    expect(await value('muster_loop_oldest_unreleased_seconds')).toBe(0);
  }, 120_000);

  test('Pods that no scheduler looks at are told, and how long each request took', async () => {
    // Nobody places Pods here.
    const unseen = 'muster_scheduler_oldest_unseen_seconds{backend_name="default-scheduler"}';
    const before = await value(unseen);
    await until('they wait longer', async () => (await value(unseen)) > before + 0.5);
    expect(await value('muster_scheduler_oldest_unseen_seconds{backend_name="kai-scheduler"}')).toBe(0);
    expect(
      await value('muster_scheduler_last_bound_timestamp_seconds{backend_name="default-scheduler"}'),
    ).toBe(0);
    expect(await value('muster_gangs{state="released"}')).toBe(COMPLETE - gone.size);
    expect(await value('muster_gang_oldest_unscheduled_seconds')).toBeGreaterThan(0);
    const writes = await value('muster_kube_request_duration_seconds_count{verb="patch"}');
    expect(await value('muster_kube_request_duration_seconds_sum{verb="patch"}')).toBeGreaterThan(
      0.1 * writes,
    );
    expect(await value('muster_backend_ready{backend_name="default-scheduler"}')).toBe(1);
    expect(await value('muster_backend_ready{backend_name="kai-scheduler"}')).toBe(0);
  });

  test.each([401, 403, 500])(
    'what the API server refuses with %i is told once for each thing that fails, without stacks',
    async (status) => {
      // Lines come up to half a second after they were written: those of the time before are no part of this.
      const begun = new Date().toISOString();
      proxy.setFates(() => ({ status }));
      const failures = async (): Promise<number> =>
        value(`muster_kube_requests_total{verb="get",code="${status}"}`);
      await until('it has failed often', async () => (await failures()) > 20, { withinMs: 60_000 });
      proxy.setFates(undefined);
      const lines = muster.log().filter(({ time }) => String(time) >= begun);
      process.stderr.write(`${lines.length} lines, ${JSON.stringify(lines).length} bytes\n`);
      expect(lines.length).toBeLessThan(12);
      for (const line of lines) expect(JSON.stringify(line)).not.toMatch(/"stack"|\.ts:\d/);
      const keys = lines.map(({ msg, what, backend }) => JSON.stringify([msg, what, backend]));
      expect(keys).toEqual([...new Set(keys)]);
      expect(lines).toContainEqual(
        expect.objectContaining({ msg: 'leader election failed', err: expect.objectContaining({ status }) }),
      );
    },
    120_000,
  );
});
