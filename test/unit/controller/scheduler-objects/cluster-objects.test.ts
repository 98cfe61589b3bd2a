import { beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Backend } from '../../../../src/backends/backend.ts';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { syncClusterObjects } from '../../../../src/controller/scheduler-objects/cluster-objects.ts';
import { backend } from '../../../support/backends.ts';
import { FakeObjects, refusal } from './fake-objects.ts';

const { signal } = new AbortController();
const topology = {
  resource: { group: 'x.io', version: 'v1', plural: 'topologies', kind: 'Topology', namespaced: false },
  name: 'levels',
};
let server: FakeObjects;
let told: string[];
let operated: string[];

beforeEach(() => {
  [server, told, operated] = [new FakeObjects(), [], []];
});

async function sync(
  syncCluster: Backend['syncCluster'],
  init = (): Promise<{ version: string }> => Promise.resolve({ version: '1' }),
): Promise<boolean> {
  const factories = [backend('a', { init, ...(syncCluster && { syncCluster }) })];
  const registry = new BackendRegistry([{ name: 'a' }], 'a', { factories });
  await registry.init('a', (ask) => ask({ cluster: undefined, signal }));
  const given = {
    ...{ registry, client: server.client, log: pino({ level: 'silent' }) },
    backendMetrics: {
      initialized: () => undefined,
      operated: (name: string, operation: string, ok: boolean) =>
        void operated.push(`${name} ${operation} ${ok ? 'ok' : 'failed'}`),
    },
  };
  return syncClusterObjects(registry.default, given, signal, (note) => Promise.resolve(void told.push(note)));
}

test('says whether an object was made or changed', async () => {
  const levels = (count: number) => async (context: Parameters<NonNullable<Backend['syncCluster']>>[0]) =>
    void (await context.apply({ ...topology, spec: { count } }));
  expect(await sync(levels(1))).toBe(true);
  expect(await sync(levels(1))).toBe(false);
  expect(await sync(levels(2))).toBe(true);
  expect([told, operated]).toEqual([[], Array(3).fill('a sync_cluster ok')]);
});

test('what fails is told and counted', async () => {
  expect(await sync(() => Promise.reject(refusal(403, 'Forbidden', 'topologies is forbidden')))).toBe(false);
  expect(told).toEqual([
    "Backend operation 'sync_cluster' failed for the objects of the cluster: test: 403 Forbidden: topologies is forbidden",
  ]);
  expect(operated).toEqual(['a sync_cluster failed']);
});

test('a backend that is not ready, or keeps none, is not asked', async () => {
  const asked = (): Promise<void> => Promise.reject(new Error('asked'));
  expect(await sync(asked, () => Promise.reject(new Error('no definition')))).toBe(false);
  expect(await sync(undefined)).toBe(false);
  expect([told, operated]).toEqual([[], []]);
});
