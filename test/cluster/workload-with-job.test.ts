/** Jobs that the Job controller itself gives a Workload and a PodGroup (feature gate WorkloadWithJob), beside Muster. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { KubeList, KubeObject } from './control-plane/client.ts';
import { RELEASE } from './control-plane/releases.ts';
import { clusterSuiteUnless } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { requestsOf } from './support/audited.ts';
import { GangCluster, KUBE } from './support/gang-cluster.ts';
import { gatesOf, type Pod } from './support/gang-objects.ts';
import {
  COUNTS_RELEASED,
  GANG_OBJECTS,
  HAS_POD_GROUPS,
  policyOf,
  WORKLOADS,
  type NativeGang,
} from './support/native-gangs.ts';
import { policiesInForce } from './support/policies-in-force.ts';
import { GANGS, NAMESPACE, PODS } from './support/registered-muster.ts';
import { MUSTER_USER } from '../../src/api/names.ts';

jest.setTimeout(120_000);

const CPU = 8;
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
const AT_ONCE = { query: { propagationPolicy: 'Background' } };
const MERGE = { contentType: 'application/merge-patch+json' };
const LABELLED = { 'muster.dev/gang': 'true', ...KUBE };

/** Of as many Pods as 1.36 asks for, too: Indexed, all at once. */
const job = (
  name: string,
  pods: number,
  labels: object,
  spec: object = {},
  podSpec: object = {},
): KubeObject =>
  ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name } },
    spec: {
      ...{ completionMode: 'Indexed', parallelism: pods, completions: pods },
      template: {
        metadata: { labels: { app: name, ...labels } },
        spec: {
          restartPolicy: 'Never',
          // No kubelet ends them here.
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'main', image: 'example/train:1', resources: { requests: { cpu: '1' } } }],
          ...podSpec,
        },
      },
      ...spec,
    },
  }) as unknown as KubeObject;

type Grouped = Pod & {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly { kind: string; name: string }[];
  };
  readonly spec: {
    readonly schedulerName: string;
    readonly schedulingGroup?: { readonly podGroupName: string };
  };
};
type Owned = NativeGang & { metadata: { ownerReferences: readonly { kind: string; name: string }[] } };

const notHere = HAS_POD_GROUPS ? undefined : `${RELEASE.version} has no such feature gate`;

clusterSuiteUnless(notHere, 'Jobs with a Workload of their own', () => {
  let cluster: GangCluster;
  const podsOf = async (app: string): Promise<readonly Grouped[]> => {
    const query = { labelSelector: `app=${app}` };
    return (await cluster.client.ok<KubeList<Grouped>>('GET', PODS, undefined, { query })).items;
  };
  const untilBound = (app: string, count: number): Promise<readonly Grouped[]> =>
    until(`${count} Pods of ${app} are bound`, async () => {
      const pods = await podsOf(app);
      const bound = pods.filter(({ spec }) => spec.nodeName !== undefined);
      return pods.length === count && bound.length === count && pods;
    });
  const groupsOf = (pods: readonly Grouped[]): string[] => [
    ...new Set(pods.map(({ spec }) => spec.schedulingGroup?.podGroupName ?? '')),
  ];
  /** The PodGroup that the Job controller has made of a Job. */
  const ownGroup = async (name: string): Promise<Owned | undefined> => {
    const { items } = await cluster.client.ok<KubeList<Owned>>('GET', GANG_OBJECTS);
    return items.find(({ metadata }) =>
      metadata.ownerReferences.some((owner) => owner.kind === 'Job' && owner.name === name),
    );
  };
  const create = (object: KubeObject) => cluster.client.request('POST', JOBS, object);
  const finish = async (pods: readonly Pod[], phase: string): Promise<void> => {
    for (const { metadata } of pods)
      await cluster.client.ok('PATCH', `${PODS}/${metadata.name}/status`, { status: { phase } }, MERGE);
  };
  const remove = async (name: string): Promise<void> => {
    await cluster.client.ok('DELETE', `${JOBS}/${name}`, undefined, AT_ONCE);
    await until('nothing of it is left', async () => {
      const lists = [PODS, GANGS, GANG_OBJECTS, WORKLOADS].map((path) =>
        cluster.client.ok<KubeList>('GET', path),
      );
      return (await Promise.all(lists)).every(({ items }) => items.length === 0);
    });
  };

  beforeAll(async () => {
    cluster = await GangCluster.start({
      webhooks: true,
      cpu: CPU,
      plane: { featureGates: { WorkloadWithJob: true } },
    });
    await policiesInForce(cluster.client);
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  test('without the label a Job is its controller’s alone, whether or not it asks for a gang', async () => {
    const gang = { scheduling: { schedulingPolicy: { gang: { minCount: 2 } } } };
    for (const [name, spec] of [
      ['plain', {}],
      ...(COUNTS_RELEASED ? [['asking', gang] as const] : []),
    ] as const) {
      const { status, warnings } = await create(job(name, 2, {}, spec));
      expect([status, warnings]).toEqual([201, []]);
      const pods = await untilBound(name, 2);
      const made = await ownGroup(name);
      expect(groupsOf(pods)).toEqual([made?.metadata.name]);
      for (const { metadata, spec: stored } of pods) {
        expect(Object.keys(metadata.labels).filter((key) => /muster|grove/.test(key))).toEqual([]);
        expect([metadata.ownerReferences.map(({ kind }) => kind), stored.schedulerName]).toEqual([
          ['Job'],
          'default-scheduler',
        ]);
        expect(gatesOf({ metadata, spec: stored })).toEqual([]);
      }
      expect((await cluster.client.ok<KubeList>('GET', GANGS)).items).toEqual([]);
      await finish(pods, 'Succeeded');
      await until('it is complete', async () => {
        const { status: of } = await cluster.client.ok<{ status?: { completionTime?: string } }>(
          'GET',
          `${JOBS}/${name}`,
        );
        return of?.completionTime !== undefined;
      });
      await remove(name);
      const about = (await requestsOf(cluster.plane, MUSTER_USER)).filter(
        (one) => one.name.startsWith(`${name}-`) && one.resource !== 'events.events.k8s.io',
      );
      expect(about).toEqual([]);
    }
  });

  test('with the label it is one gang, Muster’s: all of it starts or nothing, and all of it goes', async () => {
    const { status } = await create(job('train', CPU + 1, LABELLED));
    expect(status).toBe(201);
    await until('all are let go, and the scheduler has no room', async () => {
      const pods = await cluster.podsOf('job-train');
      const { why } = await cluster.status('job-train');
      if (pods.length === CPU + 1 && pods.every((pod) => gatesOf(pod).length === 0))
        if (why.includes('the scheduler says')) return true;
      throw new Error(`${pods.length} Pods: ${why}`);
    });
    const waiting = await podsOf('train');
    expect(groupsOf(waiting)).toEqual(['job-train']);
    expect(waiting.filter(({ spec }) => spec.nodeName !== undefined)).toEqual([]);
    const own = await ownGroup('train');
    expect(own?.metadata.name).toMatch(/^train-/);
    const path = `${GANG_OBJECTS}/job-train`;
    expect(policyOf(await cluster.client.ok<NativeGang>('GET', path))).toEqual({
      gang: { minCount: CPU + 1 },
    });
    await cluster.plane.addNode('more', { cpu: CPU });
    await untilBound('train', CPU + 1);

    // One is tried again, and joins the others.
    const [first] = await podsOf('train');
    await finish(first === undefined ? [] : [first], 'Failed');
    const pods = await untilBound('train', CPU + 2);
    expect(groupsOf(pods)).toEqual(['job-train']);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
    await remove('train');
    await cluster.client.ok('DELETE', '/api/v1/nodes/more');
  });

  test('made again under its name it is a gang anew, also after a pause', async () => {
    await create(job('again', 2, LABELLED));
    await untilBound('again', 2);
    await remove('again');
    await create(job('again', 3, LABELLED, { suspend: true }));
    await until('its controller has seen it', async () => {
      const { status } = await cluster.client.ok<{ status?: { conditions?: unknown[] } }>(
        'GET',
        `${JOBS}/again`,
      );
      return (status?.conditions ?? []).length > 0;
    });
    await cluster.client.ok('PATCH', `${JOBS}/again`, { spec: { suspend: false } }, MERGE);
    expect(groupsOf(await untilBound('again', 3))).toEqual(['job-again']);
    await remove('again');
  });

  test('where its template names a PodGroup itself the Job controller makes none, and the gang is Muster’s', async () => {
    const { status, warnings } = await create(
      job('aside', 2, LABELLED, {}, { schedulingGroup: { podGroupName: 'mine' } }),
    );
    expect([status, warnings]).toEqual([
      201,
      [expect.stringContaining('spec.template.spec.schedulingGroup: its Pods are the gang')],
    ]);
    const pods = await untilBound('aside', 2);
    expect(groupsOf(pods)).toEqual(['job-aside']);
    expect(pods[0]?.metadata.ownerReferences.map(({ kind }) => kind)).toEqual(['Job']);
    expect(await ownGroup('aside')).toBeUndefined();
    await remove('aside');
  });

  // 1.36 has no such field.
  if (COUNTS_RELEASED) {
    test('what it asks of a PodGroup of its own besides is nobody’s, and whoever creates it is told', async () => {
      const scheduling = { schedulingPolicy: { gang: { minCount: 1 } } };
      const { status, warnings } = await create(job('both', 2, LABELLED, { scheduling }));
      expect([status, warnings]).toEqual([
        201,
        [expect.stringContaining('spec.scheduling: its Pods are the gang')],
      ]);
      expect(groupsOf(await untilBound('both', 2))).toEqual(['job-both']);
      await remove('both');
    });
  }

  test('where Muster leaves native gangs alone its Pods stay in the one of the Job', async () => {
    const profiles = [{ name: 'default-scheduler', config: { gangScheduling: false } }];
    await cluster.restart({ scheduler: { profiles, defaultProfileName: 'default-scheduler' } });
    await create(job('gates', 2, LABELLED));
    const pods = await untilBound('gates', 2);
    expect(groupsOf(pods)).toEqual([(await ownGroup('gates'))?.metadata.name]);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
    await remove('gates');
  });
});
