/** Which gangs are touched when something happens to a Namespace. */
import { afterEach, expect, test } from '@jest/globals';
import { Cache } from '../../../../src/kube/loop/cache.ts';
import { watchGangs, type GangWatch } from '../../../../src/controller/watch/gang-watch.ts';
import type { NamespaceRecord } from '../../../../src/gang/records.ts';
import { NAMESPACES, POD_GANGS, PODS, type KubeObject } from '../../../../src/kube/client/resources.ts';
import { until } from '../../tls/until.ts';
import { FakeCluster } from '../../kube/loop/fake-cluster.ts';
import { countLooks } from '../../kube/loop/looks.ts';

const namespace = (
  name: string,
  version: number,
  parts: Partial<KubeObject['metadata']> = {},
): KubeObject => ({
  metadata: { name, uid: name, resourceVersion: String(version), ...parts },
});
const gang = (space: string, name: string): KubeObject => ({
  metadata: { namespace: space, name, uid: `${space}-${name}`, resourceVersion: '1' },
  spec: { podgroups: [] },
});

let watch: GangWatch | undefined;
const touched: string[] = [];
let cluster: FakeCluster;

async function start(known?: Cache<NamespaceRecord>, more = 0): Promise<GangWatch> {
  cluster = new FakeCluster();
  cluster.objects.set(NAMESPACES, [namespace('ml', 1), namespace('ml-2', 1)]);
  cluster.objects.set(POD_GANGS, [
    ...[gang('ml', 'train'), gang('ml', 'serve'), gang('ml-2', 'train')],
    ...Array.from({ length: more }, (_, index) => gang('ml', `more-${index}`)),
  ]);
  cluster.objects.set(PODS, [
    {
      metadata: {
        ...{ namespace: 'ml', name: 'a', uid: 'a', resourceVersion: '1' },
        labels: { 'grove.io/podgang': 'to-come' },
      },
    },
  ]);
  const started = watchGangs(cluster.client, () => ({}), known === undefined ? {} : { namespaces: known });
  watch = started;
  watch.onTouch((key) => touched.push(key));
  watch.watches.start();
  await watch.watches.whenSynced();
  touched.length = 0;
  return started;
}

afterEach(async () => {
  await watch?.watches.stop();
});

test.each<[string, 'MODIFIED' | 'DELETED', Partial<KubeObject['metadata']>]>([
  ['a label', 'MODIFIED', { labels: { team: 'ml' } }],
  ['an annotation', 'MODIFIED', { annotations: { a: 'b' } }],
  ['its end', 'MODIFIED', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ['its being gone', 'DELETED', {}],
])('a Namespace with %s: its gangs, and those that Pods of it claim', async (_, type, parts) => {
  await start();
  await cluster.tell(NAMESPACES, type, namespace('ml', 2, parts));
  await until('the gangs are touched at', () => touched.length > 0);
  expect(touched.sort()).toEqual(['ml/serve', 'ml/to-come', 'ml/train']);
});

test('a Namespace that comes after its gangs', async () => {
  const { view } = await start();
  await cluster.tell(POD_GANGS, 'ADDED', gang('late', 'train'));
  await until('the gang is known', () => view.gangs.get('late', 'train') !== undefined);
  touched.length = 0;
  await cluster.tell(NAMESPACES, 'ADDED', namespace('late', 3, { labels: { team: 'ml' } }));
  await until('its gang is touched at', () => touched.length > 0);
  expect(touched).toEqual(['late/train']);
  expect(view.namespaces.get('', 'late')?.labels).toEqual(new Map([['team', 'ml']]));
});

test('what says nothing about gangs makes nobody look', async () => {
  const { view } = await start();
  await cluster.tell(NAMESPACES, 'MODIFIED', namespace('ml', 2, { finalizers: ['x'] }));
  await until('it is known', () => view.namespaces.get('', 'ml')?.resourceVersion === '2');
  expect(touched).toEqual([]);
});

test('nothing is ready before the Namespaces are listed, unless they were given', async () => {
  const idle = watchGangs(new FakeCluster().client, () => ({}));
  expect(idle.watches.missing).toEqual(['pods', 'podgangs', 'namespaces']);
  const known = new Cache<NamespaceRecord>();
  const { view, watches } = await start(known);
  const { hasSynced, missing } = watches;
  expect({ hasSynced, missing, same: view.namespaces === known }).toEqual({
    hasSynced: true,
    missing: [],
    same: true,
  });
});

test('a Pod costs as little in a namespace of a thousand gangs as in one of three', async () => {
  const looksWith = async (more: number) => {
    await start(undefined, more);
    const looks = countLooks();
    await cluster.tell(PODS, 'ADDED', {
      metadata: {
        ...{ namespace: 'ml', name: 'b', uid: 'b', resourceVersion: '5' },
        labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' },
      },
      // What makes those look that wait for its gang.
      spec: { nodeName: 'one' },
    });
    await until('its gang is touched at', () => touched.length > 0);
    await watch?.watches.stop();
    return { ...looks.end(), touched: [...touched] };
  };
  const few = await looksWith(0);
  expect(few.touched).toEqual(['ml/train']);
  expect(few.lookUps).toBeGreaterThan(0);
  expect(await looksWith(1_000)).toEqual(few);
});
