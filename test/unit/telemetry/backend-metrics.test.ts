import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { BackendMetrics } from '../../../src/telemetry/backend-metrics.ts';

const lines = async (registry: Registry, name: string): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));

test('operations are counted by backend, operation and how they ended', async () => {
  const registry = new Registry();
  const metrics = new BackendMetrics(registry);
  metrics.operated('kai-scheduler', 'create', true, 0.002);
  metrics.operated('kai-scheduler', 'create', true, 0.2);
  metrics.operated('kai-scheduler', 'create', false, 0.2);
  metrics.operated('volcano', 'mutate', true, 0.00001);
  // A scrape takes nothing away.
  for (let scrape = 0; scrape < 2; scrape += 1) {
    expect(await lines(registry, 'grove_scheduler_backend_operation_total')).toEqual([
      'grove_scheduler_backend_operation_total{backend_name="kai-scheduler",operation="create",status="success"} 2',
      'grove_scheduler_backend_operation_total{backend_name="kai-scheduler",operation="create",status="failure"} 1',
      'grove_scheduler_backend_operation_total{backend_name="volcano",operation="mutate",status="success"} 1',
    ]);
  }
  expect(await lines(registry, 'grove_scheduler_backend_operation_duration_seconds_count')).toEqual([
    'grove_scheduler_backend_operation_duration_seconds_count{backend_name="kai-scheduler",operation="create"} 3',
    'grove_scheduler_backend_operation_duration_seconds_count{backend_name="volcano",operation="mutate"} 1',
  ]);
});

test('the API that a backend speaks is shown while it is ready, with 1 for the active one', async () => {
  const registry = new Registry();
  const metrics = new BackendMetrics(registry);
  metrics.enabled(['kai-scheduler', 'volcano'], 'volcano');
  metrics.initialized('volcano', false, 0.01, undefined);
  expect(await lines(registry, 'grove_scheduler_backend_info')).toEqual([]);
  metrics.initialized('volcano', true, 0.01, 'scheduling.volcano.sh/v1beta1');
  expect(await lines(registry, 'grove_scheduler_backend_info')).toEqual([
    'grove_scheduler_backend_info{backend_name="volcano",version="scheduling.volcano.sh/v1beta1"} 1',
  ]);
  expect(await lines(registry, 'grove_scheduler_backend_initialization_duration_seconds_count')).toEqual([
    'grove_scheduler_backend_initialization_duration_seconds_count{backend_name="volcano",status="failure"} 1',
    'grove_scheduler_backend_initialization_duration_seconds_count{backend_name="volcano",status="success"} 1',
  ]);
  metrics.initialized('kai-scheduler', true, 0.01, 'scheduling.run.ai/v2alpha2');
  expect((await lines(registry, 'grove_scheduler_backend_info'))[1]).toBe(
    'grove_scheduler_backend_info{backend_name="kai-scheduler",version="scheduling.run.ai/v2alpha2"} 0',
  );
  metrics.initialized('kai-scheduler', false, 0.01, undefined);
  metrics.initialized('volcano', false, 0.01, undefined);
  expect(await lines(registry, 'grove_scheduler_backend_info')).toEqual([]);
});

test('every enabled backend is shown, ready or not', async () => {
  const registry = new Registry();
  const metrics = new BackendMetrics(registry);
  metrics.enabled(['kai-scheduler', 'volcano'], 'volcano');
  const ready = async (): Promise<string[]> => lines(registry, 'muster_backend_ready');
  const shown = (kai: 0 | 1, volcano: 0 | 1): string[] => [
    `muster_backend_ready{backend_name="kai-scheduler"} ${kai}`,
    `muster_backend_ready{backend_name="volcano"} ${volcano}`,
  ];
  expect(await ready()).toEqual(shown(0, 0));
  metrics.initialized('volcano', true, 0.01, 'scheduling.volcano.sh/v1beta1');
  expect(await ready()).toEqual(shown(0, 1));
  metrics.initialized('kai-scheduler', true, 0.01, undefined);
  metrics.initialized('volcano', false, 0.01, undefined);
  expect(await ready()).toEqual(shown(1, 0));
});
