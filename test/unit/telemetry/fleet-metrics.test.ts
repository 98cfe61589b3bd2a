import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { FleetMetrics } from '../../../src/telemetry/fleet-metrics.ts';

const valuesOf = async (registry: Registry, name: string): Promise<unknown> =>
  (await registry.getSingleMetric(name)?.get())?.values.map(({ labels, value }) => [labels['result'], value]);

test('what becomes of bindings and of estimates is there from the start, and counted by result', async () => {
  const registry = new Registry();
  const metrics = new FleetMetrics(registry);
  metrics.wrote('placed');
  metrics.wrote('placed');
  metrics.wrote('error');
  metrics.estimated('failed');
  expect(await valuesOf(registry, 'muster_fleet_bindings_total')).toEqual([
    ['placed', 2],
    ['held', 0],
    ['error', 1],
  ]);
  expect(await valuesOf(registry, 'muster_fleet_estimates_total')).toEqual([
    ['answered', 0],
    ['failed', 1],
    ['resting', 0],
  ]);
});

test('bindings that are judged are counted, those that wait are a gauge', async () => {
  const registry = new Registry();
  const metrics = new FleetMetrics(registry);
  metrics.judged();
  metrics.judged();
  metrics.waits(7);
  metrics.waits(3);
  expect(await valuesOf(registry, 'muster_fleet_bindings_judged_total')).toEqual([[undefined, 2]]);
  expect(await valuesOf(registry, 'muster_fleet_bindings_waiting')).toEqual([[undefined, 3]]);
});
