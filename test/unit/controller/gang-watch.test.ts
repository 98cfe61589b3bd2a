/** Which gangs are looked at when something happens to a Namespace. */
import { afterEach, expect, test } from '@jest/globals';
import { Cache } from '../../../src/kube/loop/cache.ts';
import { watchGangs, type GangWatch } from '../../../src/controller/watch/gang-watch.ts';
import type { NamespaceRecord } from '../../../src/gang/records.ts';
import type { KubeClient, WatchEvent } from '../../../src/kube/client/client.ts';
import {
  NAMESPACES,
  POD_GANGS,
  PODS,
  type KubeObject,
  type Resource,
} from '../../../src/kube/client/resources.ts';
import { until } from '../tls/until.ts';

/** Lists what is there, and passes on the events of a test as they come. */
class FakeCluster {
  readonly objects = new Map<Resource, KubeObject[]>();
  readonly #takers = new Map<Resource, (events: WatchEvent<KubeObject>[]) => void>();

  readonly client = {
    server: 'https://fake',
    list: (resource: Resource) =>
      Promise.resolve({
        items: this.objects.get(resource) ?? [],
        resourceVersion: '1',
        continue: undefined,
      }),
    watch: (resource: Resource, { signal }: { signal: AbortSignal }) => this.#watch(resource, signal),
  } as unknown as KubeClient;

  async tell(resource: Resource, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): Promise<void> {
    await until(`${resource.plural} are watched`, () => this.#takers.has(resource));
    this.#takers.get(resource)?.([{ type, object }]);
    this.#takers.delete(resource);
  }

  async *#watch(resource: Resource, signal: AbortSignal): AsyncGenerator<WatchEvent<KubeObject>[], void> {
    while (!signal.aborted) {
      const events = await new Promise<WatchEvent<KubeObject>[] | undefined>((resolve) => {
        this.#takers.set(resource, resolve);
        signal.addEventListener('abort', () => resolve(undefined), { once: true });
      });
      if (events !== undefined) yield events;
    }
  }
}

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
const looked: string[] = [];
let cluster: FakeCluster;

async function start(known?: Cache<NamespaceRecord>): Promise<GangWatch> {
  cluster = new FakeCluster();
  cluster.objects.set(NAMESPACES, [namespace('ml', 1), namespace('ml-2', 1)]);
  cluster.objects.set(POD_GANGS, [gang('ml', 'train'), gang('ml', 'serve'), gang('ml-2', 'train')]);
  cluster.objects.set(PODS, [
    {
      metadata: {
        ...{ namespace: 'ml', name: 'a', uid: 'a', resourceVersion: '1' },
        labels: { 'grove.io/podgang': 'to-come' },
      },
    },
  ]);
  const started = watchGangs(
    cluster.client,
    (key) => looked.push(key),
    () => ({}),
    known === undefined ? {} : { namespaces: known },
  );
  watch = started;
  watch.start();
  await watch.whenSynced();
  looked.length = 0;
  return started;
}

afterEach(async () => {
  await watch?.stop();
});

test.each<[string, 'MODIFIED' | 'DELETED', Partial<KubeObject['metadata']>]>([
  ['a label', 'MODIFIED', { labels: { team: 'ml' } }],
  ['an annotation', 'MODIFIED', { annotations: { a: 'b' } }],
  ['its end', 'MODIFIED', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ['its being gone', 'DELETED', {}],
])('a Namespace with %s: its gangs, and those that Pods of it claim', async (_, type, parts) => {
  await start();
  await cluster.tell(NAMESPACES, type, namespace('ml', 2, parts));
  await until('the gangs are looked at', () => looked.length > 0);
  expect(looked.sort()).toEqual(['ml/serve', 'ml/to-come', 'ml/train']);
});

test('a Namespace that comes after its gangs', async () => {
  const { view } = await start();
  await cluster.tell(POD_GANGS, 'ADDED', gang('late', 'train'));
  await until('the gang is known', () => view.gangs.get('late', 'train') !== undefined);
  looked.length = 0;
  await cluster.tell(NAMESPACES, 'ADDED', namespace('late', 3, { labels: { team: 'ml' } }));
  await until('its gang is looked at', () => looked.length > 0);
  expect(looked).toEqual(['late/train']);
  expect(view.namespaces.get('', 'late')?.labels).toEqual(new Map([['team', 'ml']]));
});

test('what says nothing about gangs makes nobody look', async () => {
  const { view } = await start();
  await cluster.tell(NAMESPACES, 'MODIFIED', namespace('ml', 2, { finalizers: ['x'] }));
  await until('it is known', () => view.namespaces.get('', 'ml')?.resourceVersion === '2');
  expect(looked).toEqual([]);
});

test('nothing is ready before the Namespaces are listed, unless they were given', async () => {
  const idle = watchGangs(
    new FakeCluster().client,
    () => undefined,
    () => ({}),
  );
  expect(idle.missing).toEqual(['pods', 'podgangs', 'namespaces']);
  const known = new Cache<NamespaceRecord>();
  const { view, hasSynced, missing } = await start(known);
  expect({ hasSynced, missing, same: view.namespaces === known }).toEqual({
    hasSynced: true,
    missing: [],
    same: true,
  });
});
