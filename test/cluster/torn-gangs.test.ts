/**
 * A gang is released to one scheduler only. Its PodGang names one that is not the default, its Pods name none and come so
 * soon after it that no cache knows the PodGang yet.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inLength } from '../support/length.ts';
import type { KubeList } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { group } from './support/gang-objects.ts';

const GANGS = inLength({ short: 40, long: 500 });
/** How long after the answer to the creation of its PodGang the Pods of a gang are sent (ms), in turn. */
const AFTER_MS = [0, 1, 5, 30];
const AT_ONCE = 4;
const PODS_OF_A_GANG = ['leader-0', 'worker-0', 'worker-1'];

interface Placed {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly schedulerName: string; readonly nodeName?: string };
}

clusterSuite('gangs whose Pods follow their PodGang at once', () => {
  let cluster: GangCluster;

  beforeAll(async () => {
    // The default of this configuration is KAI, which is not there: whatever is prepared for it waits for ever.
    cluster = await GangCluster.start({ webhooks: true, nodes: false });
    await cluster.plane.addNode('node-1', { cpu: 10_000, memory: '10Ti', pods: 10_000 });
  }, 120_000);
  afterAll(() => cluster?.stop(), 60_000);

  const createPod = (gang: string, name: string): Promise<unknown> =>
    cluster.client.ok('POST', cluster.pods(), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${gang}-${name}`,
        labels: { 'grove.io/podgang': gang, 'grove.io/podclique': name.split('-')[0] },
      },
      spec: { containers: [{ name: 'main', image: 'example/train:1' }] },
    });
  const byGang = async (): Promise<ReadonlyMap<string, readonly Placed[]>> => {
    const { items } = await cluster.client.ok<KubeList<Placed>>('GET', cluster.pods());
    return Map.groupBy(items, ({ metadata }) => metadata.labels['grove.io/podgang'] ?? '');
  };
  const boundOf = (pods: readonly Placed[]): number =>
    pods.filter(({ spec }) => spec.nodeName !== undefined).length;

  test(`${GANGS} of them: none is prepared for two schedulers, and none starts half`, async () => {
    let next = 0;
    const create = async (): Promise<void> => {
      for (let index = next++; index < GANGS; index = next++) {
        const gang = `soon-${index}`;
        await cluster.createGang(gang, [group('leader', 1), group('worker', 2)]);
        await delay(AFTER_MS[index % AFTER_MS.length]);
        await Promise.all(PODS_OF_A_GANG.map((name) => createPod(gang, name)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, create));

    const schedulers = Array.from(await byGang(), ([gang, pods]) => ({
      gang,
      of: [...new Set(pods.map(({ spec }) => spec.schedulerName))].sort(),
      pods: pods.length,
    }));
    expect(schedulers).toHaveLength(GANGS);
    const wrong = schedulers.filter(({ of, pods }) => of.join() !== 'default-scheduler' || pods !== 3);
    expect(wrong).toEqual([]);

    const halves = async (): Promise<string[]> =>
      Array.from(await byGang())
        .filter(([, pods]) => boundOf(pods) !== PODS_OF_A_GANG.length)
        .map(([gang, pods]) => `${gang}: ${boundOf(pods)} of ${pods.length} are bound`);
    await until('all of them are bound', async () => (await halves()).length === 0, {
      withinMs: 120_000,
      everyMs: 500,
    });
    expect(await halves()).toEqual([]);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 400_000);
});
