import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeClient, WatchOptions } from '../../src/kube/client/client.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { PODS, type KubeObject, type Resource } from '../../src/kube/client/resources.ts';
import type { Identified } from '../../src/kube/loop/cache.ts';
import { Reflector } from '../../src/kube/loop/reflector.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';

const THINGS: Resource = { ...PODS, plural: 'configmaps', kind: 'ConfigMap' };
const NAMESPACE = 'crew';

/** Streaming lists (WatchList) of the release that this run is about, and of the same with the feature off. */
clusterSuite('streaming lists, on a real API server', () => {
  let plane: ControlPlane;
  let client: KubeClient;
  let streams = 0;
  let pages = 0;
  let counted: KubeClient;
  const reflectors: Reflector<Identified>[] = [];
  const unstreamed: string[] = [];
  const failures: unknown[] = [];
  const make = (name: string): Promise<KubeObject> =>
    client.create(THINGS, { metadata: { namespace: NAMESPACE, name, labels: { set: 'crowd' } } });
  const reflect = async (): Promise<Reflector<Identified>> => {
    const reflector = new Reflector<Identified>({
      client: counted,
      resource: THINGS,
      labelSelector: 'set=crowd',
      trim: ({ metadata: { name, namespace = '', uid = '', resourceVersion = '' } }) => ({
        ...{ name, namespace, uid, resourceVersion },
      }),
      observer: { unstreamed: (why) => unstreamed.push(why), failed: (error) => failures.push(error) },
    });
    reflectors.push(reflector);
    reflector.start();
    await reflector.whenSynced();
    return reflector;
  };
  const count = (): void => {
    [streams, pages] = [0, 0];
    counted = {
      ...client,
      list: (...given) => {
        pages += 1;
        return client.list(...given);
      },
      watch: <T>(resource: Resource, options: WatchOptions) => {
        if (options.initialEvents === true) streams += 1;
        return client.watch<T>(resource, options);
      },
    };
  };
  const begin = async (featureGates: Readonly<Record<string, boolean>>): Promise<void> => {
    plane = await startControlPlane({ featureGates });
    await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    client = createKubeClient(await findConnection({ kubeconfig: plane.kubeconfig }));
    for (const told of [unstreamed, failures]) told.length = 0;
    count();
  };
  const end = async (): Promise<void> => {
    await Promise.all(reflectors.splice(0).map((reflector) => reflector.stop()));
    await client?.close();
    await plane?.stop();
  };

  describe('by default', () => {
    beforeAll(() => begin({}), 120_000);
    afterAll(end);
    afterEach(async () => {
      await Promise.all(reflectors.splice(0).map((reflector) => reflector.stop()));
      count();
    });

    test('a list is a stream, and the newest: what was created before it was requested is in it', async () => {
      const crowd = Array.from({ length: 1_000 }, (_, n) => `crowd-${n}`);
      for (let n = 0; n < crowd.length; n += 50) await Promise.all(crowd.slice(n, n + 50).map(make));
      for (let round = 0; round < 20; round += 1) {
        await make(`new-${round}`);
        const { store } = await reflect();
        expect(store.get(NAMESPACE, `new-${round}`)).toBeDefined();
        expect(store.size).toBe(1_000 + round + 1);
      }
      expect([streams, pages, failures, unstreamed]).toEqual([20, 0, [], []]);
    }, 120_000);

    test('changes during a list and after it are all seen', async () => {
      const writes = Array.from({ length: 200 }, async (_, n) => {
        const name = `crowd-${n}`;
        if (n % 2 === 0) await client.delete({ resource: THINGS, namespace: NAMESPACE, name });
        else await make(`meanwhile-${n}`);
      });
      const { store } = await reflect();
      await Promise.all(writes);
      const { items } = await client.list(THINGS, { namespace: NAMESPACE, labelSelector: 'set=crowd' });
      const there = items.map(({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`);
      const seen = (): string[] =>
        Array.from(store.values(), ({ name, resourceVersion }) => `${name}@${resourceVersion}`).sort();
      await until('the cache is what is there', () => seen().join() === there.sort().join());
      expect([streams, pages, failures]).toEqual([1, 0, []]);
    }, 60_000);
  });

  describe('by default, when the API server was away', () => {
    beforeAll(() => begin({}), 120_000);
    afterAll(end);

    test('a relist is a stream, too, and finds what has gone meanwhile', async () => {
      await Promise.all(Array.from({ length: 120 }, (_, n) => make(`crowd-${n}`)));
      const reflector = await reflect();
      await until('it watches', () => reflector.upTo() !== undefined);
      await plane.stopApiServer({ kill: true });
      const key = Buffer.from(`/registry/configmaps/${NAMESPACE}/crowd-7`).toString('base64');
      const body = JSON.stringify({ key });
      expect((await fetch(`${plane.etcdUrl}/v3/kv/deleterange`, { method: 'POST', body })).status).toBe(200);
      await plane.startApiServer();
      const { store } = reflector;
      await until('it is seen to be gone', () => store.get(NAMESPACE, 'crowd-7') === undefined);
      await make('crowd-new');
      await until('a new one is seen', () => store.get(NAMESPACE, 'crowd-new') !== undefined);
      expect([store.size, pages, unstreamed]).toEqual([120, 0, []]);
      expect(failures.map(String).join()).toContain('410 Expired');
      expect(streams).toBeGreaterThan(1);
    }, 90_000);
  });

  describe('with the feature off', () => {
    beforeAll(() => begin({ WatchList: false }), 120_000);
    afterAll(end);

    test('a list is in pages, without a failure, and no stream is requested again', async () => {
      await Promise.all(Array.from({ length: 250 }, (_, n) => make(`crowd-${n}`)));
      const { store } = await reflect();
      expect([store.size, streams, pages]).toEqual([250, 1, 3]);
      await reflect();
      expect([streams, pages, failures]).toEqual([1, 6, []]);
      expect(unstreamed).toEqual([
        expect.stringContaining(
          'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
        ),
      ]);
    }, 60_000);
  });
});
