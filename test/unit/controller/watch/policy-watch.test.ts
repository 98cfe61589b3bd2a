/** What a tenant's HPCPolicies cost everybody: a share of the memory, and nothing by their number. */
import { afterEach, expect, test } from '@jest/globals';
import { watchGangs } from '../../../../src/controller/watch/gang-watch.ts';
import { watchPolicies, type PolicyWatch } from '../../../../src/controller/watch/policy-watch.ts';
import { HPC_POLICIES, type KubeObject } from '../../../../src/kube/client/resources.ts';
import { CacheMemory } from '../../../../src/kube/loop/cache-memory.ts';
import { FakeCluster } from '../../kube/loop/fake-cluster.ts';
import { countLooks } from '../../kube/loop/looks.ts';

const policyOf = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'hpc.muster.dev/v1alpha1',
  kind: 'HPCPolicy',
  metadata: { namespace, name, uid: `${namespace}-${name}`, resourceVersion: '1' },
  spec: { hpc: { scheduler: { type: 'flux' } } },
});

let watching: PolicyWatch | undefined;
afterEach(() => watching?.watch.stop());

async function start(objects: KubeObject[], room: CacheMemory): Promise<PolicyWatch> {
  const cluster = new FakeCluster();
  cluster.objects.set(HPC_POLICIES, objects);
  const observe = () => ({});
  watching = watchPolicies(cluster.client, observe, watchGangs(cluster.client, observe), room);
  watching.watch.start();
  await watching.watch.whenSynced();
  return watching;
}
const many = (count: number): KubeObject[] =>
  Array.from({ length: count }, (_, index) => policyOf('flood', `p${index}`));

test('a namespace has its share of the memory, stands still past it, and others lose nothing', async () => {
  const room = new CacheMemory({ ofNamespace: 64 * 1024, total: 128 * 1024, reserve: 1024 });
  const { policies, watch } = await start([...many(2_000), policyOf('good', 'mine')], room);
  expect(watch.store.size).toBeGreaterThan(10);
  expect(watch.store.size).toBeLessThan(1_000);
  expect(room.why('flood')).toContain('left out are some hpcpolicies');
  expect([policies.anyIn('good'), policies.get('good', 'mine') !== undefined, room.why('good')]).toEqual([
    true,
    true,
    undefined,
  ]);
});

test('whether a namespace has any is as quick where it has a thousand', async () => {
  const room = new CacheMemory({ ofNamespace: Infinity, total: Infinity, reserve: 0 });
  const { policies } = await start([...many(1_000), policyOf('good', 'mine')], room);
  const looks = countLooks();
  expect([policies.anyIn('flood'), policies.anyIn('good'), policies.anyIn('none')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(looks.end()).toEqual({ lookUps: 3, objects: 0 });
});
