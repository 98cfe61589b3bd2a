/** What comes after a gang's first start, with the controllers and the scheduler of a real cluster, native gangs on and off. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster, KUBE } from './support/gang-cluster.ts';
import { gatesOf, group, type Gang, type Pod } from './support/gang-objects.ts';
import {
  cpus,
  GANG_OBJECTS,
  HAS_GANGS,
  HAS_POD_GROUPS,
  nativeGang,
  policyOf,
} from './support/native-gangs.ts';
import { GANGS, NAMESPACE, PODS } from './support/registered-muster.ts';

jest.setTimeout(120_000);

const CPU = 8;
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
const SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`;
const MERGE = { contentType: 'application/merge-patch+json' };
const AT_ONCE = { query: { propagationPolicy: 'Background' } };
/** Somebody who takes his time. */
const SLOW = 'example.com/slow';

const template = (name: string, restartPolicy: string): object => ({
  metadata: { labels: { 'muster.dev/gang': 'true', app: name, ...KUBE } },
  spec: {
    restartPolicy,
    // No kubelet ends them here.
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'example/train:1', resources: { requests: { cpu: '100m' } } }],
  },
});
const job = (name: string, spec: object): KubeObject =>
  ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name } },
    spec: { template: template(name, 'Never'), ...spec },
  }) as unknown as KubeObject;
const statefulSet = (name: string, replicas: number): KubeObject =>
  ({
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name } },
    spec: {
      ...{ replicas, serviceName: name, podManagementPolicy: 'Parallel' },
      selector: { matchLabels: { app: name } },
      template: template(name, 'Always'),
    },
  }) as unknown as KubeObject;

type Counted = Pod & { status?: { phase?: string }; metadata: { deletionTimestamp?: string } };

clusterSuite('the next generations of a gang', () => {
  let cluster: GangCluster;
  const podsOf = (gang: string): Promise<readonly Counted[]> => cluster.podsOf(gang);
  const isBound = ({ spec }: Pod): boolean => spec.nodeName !== undefined;
  /** What keeps them is told where it comes to nothing. */
  const untilBound = (gang: string, count: number): Promise<unknown> =>
    cluster.untilBound(gang, count).catch(async (error: unknown) => {
      const { why, pods } = await cluster.status(gang);
      throw new Error(`${String(error)}: ${why} ${JSON.stringify(pods)}`, { cause: error });
    });
  const create = (path: string, object: KubeObject): Promise<unknown> =>
    cluster.client.ok('POST', path, object);
  const patch = (path: string, body: object): Promise<unknown> =>
    cluster.client.ok('PATCH', path, body, MERGE);
  const end = (pod: Pod, phase: string): Promise<unknown> =>
    patch(`${PODS}/${pod.metadata.name}/status`, { status: { phase } });
  const gangOf = async (name: string): Promise<Gang | undefined> => {
    const { status, body } = await cluster.client.request<Gang>('GET', `${GANGS}/${name}`);
    return status === 404 ? undefined : body;
  };
  const untilWhy = (gang: string, text: string): Promise<unknown> =>
    until(`muster status says "${text}"`, async () => {
      const { why } = await cluster.status(gang);
      if (why.includes(text)) return true;
      throw new Error(`it says "${why}"`);
    });

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true, cpu: CPU });
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  describe.each([
    ...(HAS_GANGS ? [['on', [{ name: 'default-scheduler' }]] as const] : []),
    ['off', [{ name: 'default-scheduler', config: { api: 'none' } }]],
  ])('with native gangs %s', (native, profiles) => {
    const named = (name: string): string => `${name}-${native}`;
    const isGang = native === 'on';
    /** In 1.35 what the scheduler counts is the first minimum, whatever becomes of the gang. */
    const staysAsItWas = isGang && !HAS_POD_GROUPS;

    beforeAll(
      () => cluster.restart({ scheduler: { profiles, defaultProfileName: 'default-scheduler' } }),
      120_000,
    );

    test('Job: 7 completions, 3 at a time: the last Pods run as well, and its gang succeeds', async () => {
      const name = named('seven');
      await create(JOBS, job(name, { parallelism: 3, completions: 7 }));
      await untilBound(`job-${name}`, 3);
      const first = await gangOf(`job-${name}`);
      const done = new Set<string>();
      await until('seven Pods were bound', async () => {
        const pods = (await podsOf(`job-${name}`)).filter(isBound);
        const next = pods.filter(({ metadata }) => !done.has(metadata.uid));
        for (const pod of next) {
          await end(pod, 'Succeeded');
          done.add(pod.metadata.uid);
        }
        return done.size === 7;
      }).catch(async (error: unknown) => {
        const { why } = await cluster.status(`job-${name}`);
        throw new Error(`${String(error)}: ${done.size} were bound: ${why}`, { cause: error });
      });
      await until('its gang has succeeded', async () => {
        const gang = await gangOf(`job-${name}`);
        expect(gang?.metadata.uid).toBe(first?.metadata.uid);
        return gang?.status?.phase === 'Succeeded';
      });
      expect(await cluster.history.ungatedEarly()).toEqual([]);
    });

    test('Job: deleted and made again under its name while its Pods end slowly, it starts whole or not at all', async () => {
      const name = named('slow-again');
      const gang = `job-${name}`;
      const spec = { parallelism: 3, completions: 3 };
      await create(JOBS, job(name, spec));
      await untilBound(gang, 3);
      const former = await podsOf(gang);
      const old = new Set(former.map(({ metadata }) => metadata.uid));
      for (const { metadata } of former)
        await patch(`${PODS}/${metadata.name}`, { metadata: { finalizers: [SLOW] } });
      await cluster.client.ok('DELETE', `${JOBS}/${name}`, undefined, AT_ONCE);
      await until('it is made again', async () => {
        const { status } = await cluster.client.request('POST', JOBS, job(name, spec));
        return status === 201;
      });
      const next = async (): Promise<Counted[]> =>
        (await podsOf(gang)).filter(({ metadata }) => !old.has(metadata.uid));
      if (isGang) {
        await until('all are made again', async () => (await next()).length === 3);
        await untilWhy(gang, 'waiting for Pods of the generation before to go');
        expect((await next()).map((pod) => gatesOf(pod).length)).toEqual([1, 1, 1]);
      }
      for (const { metadata } of former)
        await patch(`${PODS}/${metadata.name}`, { metadata: { finalizers: null } });
      await until('the new Pods have nodes', async () => (await next()).filter(isBound).length === 3);
    });

    test('Indexed Job: the one index that is tried again, when all others have succeeded, runs', async () => {
      const name = named('retried');
      const spec = { completionMode: 'Indexed', parallelism: 4, completions: 4 };
      await create(JOBS, job(name, spec));
      await untilBound(`job-${name}`, 4);
      const [last, ...others] = await podsOf(`job-${name}`);
      for (const pod of others) await end(pod, 'Succeeded');
      await until('three are counted', async () => {
        const { status } = await cluster.client.ok<{ status?: { succeeded?: number } }>(
          'GET',
          `${JOBS}/${name}`,
        );
        return status?.succeeded === 3;
      });
      await end(last as Pod, 'Failed');
      await untilBound(`job-${name}`, 5);
    });

    test('StatefulSet: a Pod that is lost after a scale-down is replaced', async () => {
      const name = named('db');
      await create(SETS, statefulSet(name, 4));
      await untilBound(`statefulset-${name}`, 4);
      await patch(`${SETS}/${name}`, { spec: { replicas: 2 } });
      await untilBound(`statefulset-${name}`, 2);
      await until('the minimum has shrunk', async () => {
        const gang = await gangOf(`statefulset-${name}`);
        return gang?.spec.podgroups[0]?.minReplicas === 2;
      });
      const [lost, stays] = await podsOf(`statefulset-${name}`);
      await cluster.removePod(lost?.metadata.name ?? '');
      if (staysAsItWas) {
        await untilWhy(`statefulset-${name}`, 'bound main 1/2');
        expect(policyOf(await nativeGang(cluster, `statefulset-${name}`))).toEqual({ gang: { minCount: 4 } });
        await patch(`${SETS}/${name}`, { spec: { replicas: 4 } });
        await untilBound(`statefulset-${name}`, 4);
        return;
      }
      await until('another one is bound', async () => {
        const pods = await podsOf(`statefulset-${name}`);
        return (
          pods.filter(isBound).length === 2 &&
          pods.every(({ metadata }) => metadata.uid !== lost?.metadata.uid)
        );
      }).catch(async (error: unknown) => {
        const { why } = await cluster.status(`statefulset-${name}`);
        throw new Error(`${String(error)}: ${why}`, { cause: error });
      });
      const uids = (await podsOf(`statefulset-${name}`)).map(({ metadata }) => metadata.uid);
      expect(uids).toContain(stays?.metadata.uid);
      if (isGang && HAS_POD_GROUPS)
        expect(policyOf(await nativeGang(cluster, `statefulset-${name}`))).toEqual({ gang: { minCount: 2 } });
    });

    test('StatefulSet and Job: made again under their names they are gangs of their own', async () => {
      const name = named('again');
      const both = [
        [SETS, statefulSet(name, 2), `statefulset-${name}`],
        [JOBS, job(name, { parallelism: 2, completions: 2 }), `job-${name}`],
      ] as const;
      for (const [path, object, gang] of both) {
        await create(path, object);
        await untilBound(gang, 2);
        const former = await gangOf(gang);
        await cluster.client.ok('DELETE', `${path}/${name}`, undefined, AT_ONCE);
        await create(path, object);
        await until('another gang is bound', async () => {
          const [now, pods] = [await gangOf(gang), await podsOf(gang)];
          return (
            now !== undefined &&
            now.metadata.uid !== former?.metadata.uid &&
            pods.length === 2 &&
            pods.every(isBound)
          );
        });
      }
      expect(await cluster.history.ungatedEarly()).toEqual([]);
    });

    test('a gang of four that is replaced whole, while its Pods end slowly: the next one is whole before it starts', async () => {
      const gang = named('four');
      const make = (from: number, count: number, cpu: number): Promise<unknown> =>
        Promise.all(
          Array.from({ length: count }, (_, index) =>
            cluster.createPod(gang, `worker-${from + index}`, 'worker', {
              spec: cpus(cpu),
              finalizers: from === 0 ? [SLOW] : [],
            }),
          ),
        );
      const next = async (): Promise<Counted[]> =>
        (await podsOf(gang)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      await cluster.createGang(gang, [group('worker', 4)]);
      await make(0, 4, 1);
      await untilBound(gang, 4);
      for (const { metadata } of await podsOf(gang)) await cluster.removePod(metadata.name);
      // Two of four fit once the former ones are gone.
      await make(10, 2, 3);
      await untilWhy(gang, 'the next generation forms: waiting for Pods: worker 2/4');
      expect((await next()).map((pod) => gatesOf(pod).length)).toEqual([1, 1]);
      await cluster.untilEvent('PodGang', gang, 'NextGenerationForming');
      await make(12, 2, 3);
      if (isGang) {
        await untilWhy(gang, 'waiting for Pods of the generation before to go');
        expect((await next()).map((pod) => gatesOf(pod).length)).toEqual([1, 1, 1, 1]);
      }
      for (const { metadata } of await podsOf(gang))
        if (metadata.deletionTimestamp !== undefined)
          await patch(`${PODS}/${metadata.name}`, { metadata: { finalizers: null } });
      await until('all are let go', async () => (await next()).every((pod) => gatesOf(pod).length === 0));
      if (isGang) {
        await untilWhy(gang, 'the scheduler says');
        expect((await next()).filter(isBound)).toEqual([]);
      }
      await cluster.plane.addNode('more', { cpu: 2 * CPU });
      await untilBound(gang, 4);
      for (const { metadata } of await podsOf(gang)) await cluster.removePod(metadata.name);
      await cluster.client.ok('DELETE', '/api/v1/nodes/more');
      expect(await cluster.history.ungatedEarly()).toEqual([]);
    });

    if (isGang && HAS_POD_GROUPS) {
      test('a PodGroup that somebody deletes, or a process that ended left half replaced, is there again for Pods that come', async () => {
        const name = named('held');
        await create(SETS, statefulSet(name, 2));
        await untilBound(`statefulset-${name}`, 2);
        const [before, pods] = [
          await nativeGang(cluster, `statefulset-${name}`),
          await podsOf(`statefulset-${name}`),
        ];
        await cluster.client.ok('DELETE', `${GANG_OBJECTS}/statefulset-${name}`);
        await until('another one is there', async () => {
          const { metadata } = await nativeGang(cluster, `statefulset-${name}`);
          return metadata.uid !== before.metadata.uid && metadata.deletionTimestamp === undefined;
        });
        expect((await podsOf(`statefulset-${name}`)).map(({ metadata }) => metadata.uid)).toEqual(
          pods.map(({ metadata }) => metadata.uid),
        );
        await cluster.removePod(`${name}-0`);
        await until('it is replaced', async () => {
          const now = await podsOf(`statefulset-${name}`);
          return (
            now.filter(isBound).length === 2 &&
            now.every(({ metadata }) => metadata.uid !== pods[0]?.metadata.uid)
          );
        });
      });
    }
  });
});
