/** What all metrics together look like: by Prometheus' conventions, and as many series for ten times the gangs. */
import { spawnSync } from 'node:child_process';
import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { BackendRegistry } from '../../../src/backends/registry.ts';
import { gangs } from '../../../src/controller/gangs/controller.ts';
import { startControllers, type Loop } from '../../../src/controller/controller.ts';
import { EVERY_GANG } from '../../../src/gang/gang-selection.ts';
import { NAMESPACES, POD_GANGS, PODS, type KubeObject } from '../../../src/kube/client/resources.ts';
import { aborted } from '../../../src/kube/loop/deadline.ts';
import { FleetMetrics, FleetQueueMetrics } from '../../../src/telemetry/fleet-metrics.ts';
import { LoopMetrics } from '../../../src/telemetry/loop-metrics.ts';
import { metricCatalogue } from '../../../src/telemetry/metric-catalogue.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { PreemptionMetrics } from '../../../src/telemetry/preemption-metrics.ts';
import { backend } from '../../support/backends.ts';
import { observeExposition } from '../../support/observed.ts';
import { FakeCluster } from '../kube/loop/fake-cluster.ts';
import { until } from '../tls/until.ts';

let loop: Loop | undefined;
afterEach(async () => {
  await loop?.stop();
  loop = undefined;
});

/** The whole exposition of a program with everything enabled, after one of each thing has happened. */
async function exposed(): Promise<string> {
  const metrics = new Metrics({ version: '1.0.0', commit: 'abc' }, ['/mutate-pod']);
  metrics.answered('/mutate-pod', 'CREATE', 'patched', 0.001);
  metrics.refused('GateProtected');
  metrics.certificateEnds(new Date());
  metrics.coversLeaf(true);
  metrics.httpFailure(404);
  metrics.backends.enabled(['b'], 'b');
  metrics.backends.initialized('b', true, 0.1, 'v1');
  metrics.backends.operated('b', 'create', true, 0.1);
  metrics.logCounts.droppedBytes = 70;
  const ofLoop = new LoopMetrics();
  ofLoop.fleetFrom(() => true);
  new FleetMetrics(ofLoop.registry).wrote('placed');
  new FleetQueueMetrics(ofLoop.registry).released();
  new PreemptionMetrics(ofLoop.registry).planned(1);
  ofLoop.watches('pods');
  ofLoop.cachedFrom(() => [['pods', 1]]);
  ofLoop.requested('get', 200, 3);
  ofLoop.slotsFrom('gangs', () => [{ slots: 10, busySlots: 3 }]);
  ofLoop.gangs.schedulers = () => [['b', { oldestUnseenMs: 1, lastBoundAt: 1 }]];
  const text = (await metrics.expose()).body + (await ofLoop.expose());
  observeExposition(text);
  return text;
}

/** Units that are not the base units of Prometheus, and words that say a second time what the type is. */
const WRONG = /_(ms|milliseconds|minutes|hours|days|kb|mb|kilobytes|counter|gauge|histogram|summary)(_|$)/;

test.each(Object.entries(metricCatalogue))(
  '%s is named as Prometheus asks for',
  (name, { type, labels, help }) => {
    expect(name).toMatch(/^(muster|grove_scheduler_backend)_[a-z]+(_[a-z]+)*$/);
    expect(name).not.toMatch(WRONG);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(name).not.toMatch(/_(bucket|count|sum)$/);
    for (const label of labels) {
      expect(label).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(['le', 'quantile', 'job', 'instance', 'namespace', 'pod', 'gang', 'name', 'user']).not.toContain(
        label,
      );
    }
    expect(help).toMatch(/^[^\n]+\.$/);
  },
);

test('each is exposed with the labels that it is said to have', async () => {
  const text = await exposed();
  for (const [name, { type, labels }] of Object.entries(metricCatalogue)) {
    expect(text).toContain(`# TYPE ${name} ${type}\n`);
    const [sample] = new RegExp(`^${name}(?:_count)?[{ ].*`, 'm').exec(text) ?? [];
    expect(`${name}: ${sample?.match(/\w+(?==")/g)?.join() ?? ''}`).toBe(`${name}: ${labels.join()}`);
  }
});

const promtool = spawnSync('promtool', ['--version']).status === 0;
const where = promtool ? test : test.skip;
where('promtool finds nothing to correct (skipped where it is not installed)', async () => {
  const text = await exposed();
  const own = text.split('\n').filter((line) => /^(# (HELP|TYPE) )?(muster|grove)_/.test(line));
  const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
    input: `${own.join('\n')}\n`,
  });
  expect(`${String(stdout)}${String(stderr)}`).toBe('');
  expect(status).toBe(0);
});

const object = (kind: string, namespace: string, name: string, rest: object): KubeObject => ({
  metadata: {
    namespace,
    name,
    uid: `${kind}-${namespace}-${name}`,
    resourceVersion: '7',
    creationTimestamp: '2026-06-01T11:00:00Z',
    labels: kind === 'pod' ? { 'grove.io/podgang': name.slice(0, -2), 'grove.io/podclique': 'w' } : {},
  },
  ...rest,
});

/** Names of the series of a loop that has so many gangs in memory, in a hundred namespaces. */
async function seriesWith(count: number): Promise<string[]> {
  const cluster = new FakeCluster();
  const places = Array.from({ length: count }, (_, index) => [`team-${index % 100}`, `g${index}`] as const);
  const spec = { schedulerName: 'b', schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }] };
  cluster.objects.set(NAMESPACES, []);
  cluster.objects.set(
    POD_GANGS,
    places.map(([namespace, name]) =>
      object('gang', namespace, name, {
        spec: { podgroups: [{ name: 'w', minReplicas: 1, podReferences: [] }] },
      }),
    ),
  );
  cluster.objects.set(
    PODS,
    places.map(([namespace, name]) =>
      object('pod', namespace, `${name}-0`, { spec, status: { phase: 'Pending' } }),
    ),
  );
  const metrics = new LoopMetrics();
  loop = startControllers(
    {
      client: cluster.client,
      registry: new BackendRegistry([{ name: 'b' }], 'b', { factories: [backend('b')] }),
      settings: { concurrentSyncs: 1, selectors: EVERY_GANG, leaderElection: { enabled: false } as never },
      log: pino({ level: 'silent' }),
      metrics,
      backendMetrics: { initialized: () => undefined, operated: () => undefined },
      now: () => new Date(),
      ownNamespace: 'muster-system',
    },
    // The controller of gangs watches and counts, and does not lead.
    [(shared) => ({ name: 'idle', watches: gangs(shared)?.watches ?? [], lead: aborted })],
  );
  await until('all are known', () => loop?.check() === undefined);
  const text = await metrics.expose();
  expect(text).toContain(`muster_gangs{state="waiting"} ${count}\n`);
  expect(text).toContain(`muster_loop_cached_objects{resource="pods"} ${count}\n`);
  await loop.stop();
  loop = undefined;
  return text.split('\n').flatMap((line) => /^([^#\s]+) /.exec(line)?.[1] ?? []);
}

test('10,000 gangs have the series of 1,000', async () => {
  const few = await seriesWith(1_000);
  expect(few.length).toBeGreaterThan(100);
  expect(await seriesWith(10_000)).toEqual(few);
});
