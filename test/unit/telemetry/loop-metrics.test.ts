import { beforeEach, expect, test } from '@jest/globals';
import { GANG_STATES, WAIT_REASONS } from '../../../src/telemetry/gang-metrics.ts';
import { LoopMetrics } from '../../../src/telemetry/loop-metrics.ts';
import { gangMetrics, loopMetrics } from '../../../src/telemetry/loop-catalogue.ts';

let metrics: LoopMetrics;
/** Lines of samples, without the buckets of histograms. */
const samples = async (): Promise<string[]> =>
  (await metrics.expose()).split('\n').filter((line) => line !== '' && !/^#|_bucket\{/.test(line));

beforeEach(() => {
  metrics = new LoopMetrics();
});

test('every metric of the loop is exposed with its type and help, and none beside it', async () => {
  metrics.callsFrom({ inFlight: 3, limit: 32 });
  metrics.watches('pods');
  metrics.cachedFrom(() => [['pods', 3]]);
  metrics.requested('get', 200, 3);
  metrics.slotsFrom('gangs', () => []);
  metrics.gangs.schedulers = () => [['kai-scheduler', { oldestUnseenMs: 0, lastBoundAt: 0 }]];
  const text = await metrics.expose();
  const all = { ...loopMetrics, ...gangMetrics };
  for (const [name, { type, help, labels }] of Object.entries(all)) {
    expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
    const [sample] = new RegExp(`^${name}(?:_count)?[{ ].*`, 'm').exec(text) ?? [];
    expect(sample?.match(/\w+(?==")/g)?.filter((label) => label !== 'le') ?? []).toEqual([...labels]);
  }
  const exposed = [...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
  expect(exposed.toSorted()).toEqual(Object.keys(all).toSorted());
});

test('a loop that does nothing shows zeros, so that a rate can be taken from its first event on', async () => {
  expect((await samples()).toSorted()).toEqual([
    'muster_gang_oldest_unscheduled_seconds 0',
    ...WAIT_REASONS.toSorted().map((reason) => `muster_gang_oldest_waiting_seconds{reason="${reason}"} 0`),
    'muster_gangs_standing_still 0',
    ...WAIT_REASONS.toSorted().map((reason) => `muster_gangs_waiting{reason="${reason}"} 0`),
    ...GANG_STATES.toSorted().map((state) => `muster_gangs{state="${state}"} 0`),
    'muster_kube_requests_in_flight 0',
    'muster_kube_requests_window 0',
    'muster_kube_throttled_seconds_total 0',
    'muster_loop_gang_release_seconds_count 0',
    'muster_loop_gang_release_seconds_sum 0',
    'muster_loop_gang_unreleased_seconds_count 0',
    'muster_loop_gang_unreleased_seconds_sum 0',
    'muster_loop_gates_removed_total 0',
    'muster_loop_initialized_total 0',
    'muster_loop_leading 0',
    'muster_loop_longest_running_seconds 0',
    'muster_loop_namespaces_standing_still 0',
    'muster_loop_oldest_unreleased_seconds 0',
    'muster_loop_queue_depth 0',
    'muster_loop_queue_oldest_seconds 0',
    ...['error', 'ok', 'outdated'].map(
      (result) => `muster_loop_reconcile_duration_seconds_count{result="${result}"} 0`,
    ),
    ...['error', 'ok', 'outdated'].map(
      (result) => `muster_loop_reconcile_duration_seconds_sum{result="${result}"} 0`,
    ),
    ...['error', 'ok', 'outdated'].map((result) => `muster_loop_reconciles_total{result="${result}"} 0`),
    'muster_loop_retries_total 0',
    'muster_loop_ungated_early_total 0',
  ]);
});

test('counts and gauges, in seconds', async () => {
  metrics.leads(true);
  metrics.queueFrom(() => ({ depth: 3, oldestMs: 1_500, longestRunningMs: 250 }));
  metrics.cachedFrom(() => [
    ['pods', 12],
    ['podgangs', 2],
  ]);
  metrics.reconciled('outdated', 0.5);
  metrics.throttled(1_500);
  metrics.gangWaited('released', 2);
  metrics.gangWaited('unreleased', 4);
  metrics.unreleasedFrom(() => 61_000);
  metrics.slotsFrom('gangs', () => [{ slots: 10, busySlots: 3 }]);
  metrics.slotsFrom('scheduler-objects', () => [
    { slots: 10, busySlots: 4 },
    { slots: 10, busySlots: 2 },
  ]);
  metrics.callsFrom({ inFlight: 3, limit: 32 });
  metrics.watches('pods');
  metrics.listed('pods');
  metrics.watchFailed('pods');
  metrics.requested('replace', 200, 250);
  metrics.requested('patch', undefined, 1_000);
  metrics.requested('watch', 200);
  metrics.requested('patch', 409);
  expect(await samples()).toEqual(
    expect.arrayContaining([
      'muster_loop_leading 1',
      'muster_loop_queue_depth 3',
      'muster_loop_queue_oldest_seconds 1.5',
      'muster_loop_longest_running_seconds 0.25',
      'muster_loop_cached_objects{resource="pods"} 12',
      'muster_loop_cached_objects{resource="podgangs"} 2',
      'muster_loop_reconciles_total{result="outdated"} 1',
      'muster_loop_reconcile_duration_seconds_sum{result="outdated"} 0.5',
      'muster_kube_requests_in_flight 3',
      'muster_kube_requests_window 32',
      'muster_kube_throttled_seconds_total 1.5',
      'muster_loop_gang_release_seconds_sum 2',
      'muster_loop_gang_unreleased_seconds_sum 4',
      'muster_loop_oldest_unreleased_seconds 61',
      'muster_loop_slots{controller="gangs"} 10',
      'muster_loop_busy_slots{controller="gangs"} 3',
      'muster_loop_slots{controller="scheduler-objects"} 20',
      'muster_loop_busy_slots{controller="scheduler-objects"} 6',
      'muster_kube_request_duration_seconds_sum{verb="update"} 0.25',
      'muster_kube_request_duration_seconds_count{verb="patch"} 1',
      'muster_loop_lists_total{resource="pods"} 1',
      'muster_loop_watch_failures_total{resource="pods"} 1',
      'muster_kube_requests_total{verb="update",code="200"} 1',
      'muster_kube_requests_total{verb="patch",code="none"} 1',
      'muster_kube_requests_total{verb="patch",code="409"} 1',
    ]),
  );
  expect(await metrics.expose()).not.toContain('muster_kube_request_duration_seconds_count{verb="watch"}');
  metrics.leads(false);
  metrics.queueFrom(() => undefined);
  expect(await samples()).toEqual(
    expect.arrayContaining(['muster_loop_leading 0', 'muster_loop_queue_depth 0']),
  );
});

test('a Pod without its gate is counted once, and what is remembered of them is bounded', async () => {
  const count = async (): Promise<string | undefined> =>
    (await samples()).find((line) => line.startsWith('muster_loop_ungated_early_total'));
  for (const uid of ['a', 'b', 'a', 'a']) metrics.ungatedEarly(uid);
  expect(await count()).toBe('muster_loop_ungated_early_total 2');
  for (let n = 0; n < 9_999; n += 1) metrics.ungatedEarly(`pod-${n}`);
  expect(await count()).toBe('muster_loop_ungated_early_total 10001');
  metrics.ungatedEarly('b');
  expect(await count()).toBe('muster_loop_ungated_early_total 10001');
  // The oldest is forgotten.
  metrics.ungatedEarly('a');
  expect(await count()).toBe('muster_loop_ungated_early_total 10002');
});
