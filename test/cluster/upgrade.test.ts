/** From Kubernetes 1.36 to 1.37 and back, on the same etcd, with gangs that run, wait, form and go on. */
import { readFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { MUSTER_NAMESPACE } from '../../src/api/names.ts';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { isBuilt, locateBinaries } from './control-plane/binaries.ts';
import { DEFAULT_RELEASE, KNOWN_RELEASES, RELEASE, type Release } from './control-plane/releases.ts';
import { clusterSuiteUnless } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { historyOf, KEEPS_HISTORY } from './support/etcd-history.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { judge, NOTHING_BROKEN } from './support/gang-judge.ts';
import { gatesOf, group, type Pod } from './support/gang-objects.ts';
import { cpus, type NativeGang } from './support/native-gangs.ts';
import { policiesInForce } from './support/policies-in-force.ts';
import { NAMESPACE } from './support/registered-muster.ts';
import { deletedFromEtcd, deletionOf, keptInEtcd, nativeOf, podGroupsAsked } from './support/two-releases.ts';

jest.setTimeout(300_000);

const FROM = KNOWN_RELEASES['1.36'] as Release;
const TO = DEFAULT_RELEASE;
const CPU = 8;
const PAGE = new URL('../../src/backends/native/README.md', import.meta.url);
const SETTINGS = {
  scheduler: { profiles: [{ name: 'default-scheduler' }], defaultProfileName: 'default-scheduler' },
};
/** What stands for Muster in the cluster; it runs beside it. */
const DEPLOYMENT = {
  metadata: { name: 'muster' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'muster' } },
    template: {
      metadata: { labels: { app: 'muster' } },
      spec: { containers: [{ name: 'main', image: 'a' }] },
    },
  },
};
/** A Muster that runs on looks at what is served once a minute. */
const PATIENT = { withinMs: 120_000 };

/** It is run by `npm run test:matrix -- 1.36`, and so by .ci/run: two releases of programs are dear, and may not be there. */
const notHere = (): string | undefined => {
  if (RELEASE !== FROM) return `it begins on ${FROM.version}: npm run test:matrix -- 1.36`;
  const missing = [FROM, TO].find((release) => !isBuilt(release));
  return missing && `Kubernetes ${missing.version} is not built here`;
};

clusterSuiteUnless(notHere(), 'from Kubernetes 1.36 to 1.37', () => {
  let cluster: GangCluster;
  const pods = (gang: string, from: number, count: number, podclique = 'worker'): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        cluster.createPod(gang, `${podclique}-${from + index}`, podclique, { spec: SMALL }),
      ),
    );
  const SMALL = { ...cpus(1), terminationGracePeriodSeconds: 0 };
  const isBound = ({ spec }: Pod): boolean => spec.nodeName !== undefined;
  const whereOf = async (gang: string): Promise<string[]> =>
    (await cluster.podsOf(gang))
      .map(({ metadata, spec }) => `${metadata.uid} ${spec.nodeName ?? '-'}`)
      .sort();
  const untilWhy = (gang: string, text: string): Promise<unknown> =>
    until(`muster status says "${text}" of ${gang}`, async () => {
      const { why } = await cluster.status(gang);
      if (why.includes(text)) return true;
      throw new Error(`it says "${why}"`);
    });
  /** Its PodGroup, by the API of a release. */
  const untilCounted = (release: Release, gang: string, minCount: number): Promise<NativeGang> =>
    until(
      `PodGroup ${gang} of ${release.version} asks for ${minCount}`,
      async () => {
        const path = `${nativeOf(release, 'podgroups', NAMESPACE)}/${gang}`;
        const found = await cluster.client.ok<NativeGang>('GET', path);
        return JSON.stringify(found.spec.schedulingPolicy) === `{"gang":{"minCount":${minCount}}}` && found;
      },
      PATIENT,
    );

  beforeEach(async () => {
    cluster = await GangCluster.start({
      ...{ webhooks: true, cpu: CPU, settings: SETTINGS },
      plane: { release: FROM, extraApiServerArgs: KEEPS_HISTORY },
    });
    await policiesInForce(cluster.client);
  }, 180_000);
  afterEach(() => cluster?.stop(), 60_000);

  /** One that runs, one in a namespace that is to go, one that lacks a Pod, one whose next generation does, one without room. */
  async function givenGangs(): Promise<void> {
    await cluster.createNamespace('old');
    await cluster.createGang('old', [group('worker', 1)], { namespace: 'old' });
    await cluster.createPod('old', 'worker-0', 'worker', { namespace: 'old', spec: SMALL });
    await cluster.untilBound('old', 1, 'old');
    await cluster.createGang('runs', [group('leader', 1), group('worker', 2)]);
    await pods('runs', 0, 1, 'leader');
    await pods('runs', 0, 2);
    await cluster.untilBound('runs', 3);
    await cluster.createGang('next', [group('worker', 2)]);
    await pods('next', 0, 2);
    await cluster.untilBound('next', 2);
    for (const { metadata } of await cluster.podsOf('next')) await cluster.removePod(metadata.name);
    await pods('next', 10, 1);
    await untilWhy('next', 'the next generation forms: waiting for Pods: worker 1/2');
    await cluster.createGang('forms', [group('worker', 2)]);
    await pods('forms', 0, 1);
    await cluster.untilCondition('forms', 'Initialized', { status: 'False' });
    await cluster.createGang('waits', [group('worker', CPU)]);
    await pods('waits', 0, CPU);
    await untilWhy('waits', 'the scheduler says');
    await untilCounted(FROM, 'waits', CPU);
  }

  /** What ran runs on, what waited waits whole, and each goes on as if nothing had been; then it goes. */
  async function goesOn(release: Release, ran: readonly string[]): Promise<void> {
    const before = await untilCounted(release, 'runs', 3);
    for (const [gang, minCount] of [
      ['waits', CPU],
      ['forms', 2],
      ['next', 2],
    ] as const)
      await untilCounted(release, gang, minCount);
    expect(await whereOf('runs')).toEqual(ran);
    await untilWhy('waits', 'the scheduler says');
    expect((await cluster.podsOf('waits')).filter(isBound)).toEqual([]);
    for (const gang of ['forms', 'next'])
      expect((await cluster.podsOf(gang)).map((pod) => gatesOf(pod).length)).toEqual([1]);

    await pods('forms', 1, 1);
    await pods('next', 11, 1);
    await cluster.untilBound('forms', 2);
    await cluster.untilBound('next', 2);
    expect((await cluster.podsOf('waits')).filter(isBound)).toEqual([]);
    await cluster.plane.addNode('more', { cpu: CPU + 1 });
    await cluster.untilBound('waits', CPU);
    await pods('runs', 2, 1);
    await cluster.untilBound('runs', 4);
    const groups = [group('leader', 1), group('worker', 3)].map(({ name, minReplicas }) => ({
      name,
      minReplicas,
    }));
    const { spec } = await cluster.gang('runs');
    const podgroups = spec.podgroups.map((one, index) => ({ ...one, ...groups[index] }));
    await cluster.client.ok('PATCH', `${cluster.gangs()}/runs`, { spec: { podgroups } });
    const { metadata } = await untilCounted(release, 'runs', 4);
    // 1.37 changes it in place.
    expect(metadata.uid === before.metadata.uid).toBe(release === TO);

    expect(judge(await historyOf(cluster.plane.etcdUrl, NAMESPACE)).broken).toEqual({
      ...NOTHING_BROKEN,
      foreignLost: [expect.stringMatching(/^runs at \d+: its spec was changed$/)],
    });
    for (const gang of ['runs', 'waits', 'forms', 'next']) await cluster.removeGang(gang);
    for (const gang of ['runs', 'waits', 'forms', 'next'])
      for (const pod of await cluster.podsOf(gang)) await cluster.removePod(pod.metadata.name);
    await cluster.client.ok('DELETE', '/api/v1/namespaces/old');
    await until(
      'its native gangs are gone',
      async () => (await keptInEtcd(cluster.plane)).length === 0,
      PATIENT,
    );
    await until(
      'the namespace is gone',
      async () => (await cluster.client.request('GET', '/api/v1/namespaces/old')).status === 404,
      PATIENT,
    );
  }

  test('as the page has it: Muster away, the objects deleted, then the step; Muster comes later', async () => {
    await cluster.client.ok('POST', `/apis/apps/v1/namespaces/${MUSTER_NAMESPACE}/deployments`, DEPLOYMENT);
    await givenGangs();
    const ran = await whereOf('runs');
    await cluster.muster.close();
    const { kubectl } = await locateBinaries({ need: ['kubectl'], build: false });
    const script = deletionOf(await readFile(PAGE, 'utf8'));
    expect(script).toContain('kubectl');
    const { PATH = '' } = process.env;
    await promisify(execFile)('sh', ['-e', '-c', script], {
      env: {
        PATH: `${dirname(kubectl)}:${PATH}`,
        KUBECONFIG: cluster.plane.kubeconfig,
        KUBECACHEDIR: `${cluster.plane.dir}/kubectl-cache`,
      },
    });
    await until('none is left', async () => (await keptInEtcd(cluster.plane)).length === 0);
    await cluster.plane.become(TO);
    expect((await podGroupsAsked(cluster.client, TO)).body.items).toEqual([]);
    await cluster.restart();
    await goesOn(TO, ran);
  });

  test('objects that were left keep the API server of 1.37 from being ready, until etcd has them no more', async () => {
    await givenGangs();
    const ran = await whereOf('runs');
    const stepping = cluster.plane.become(TO);
    stepping.catch(() => undefined);
    const said = await until('it cannot read them', async () => {
      const { status, body } = await podGroupsAsked(cluster.client, TO);
      return status !== 200 && body.message?.includes('no kind "PodGroup"') && body.message;
    });
    expect(said).toContain('no kind "PodGroup" is registered for version "scheduling.k8s.io/v1alpha2"');
    const one = `${nativeOf(TO, 'podgroups', NAMESPACE)}/runs`;
    expect((await cluster.client.request('DELETE', one)).status).toBe(500);
    await deletedFromEtcd(cluster.plane);
    // Muster runs through all of it.
    await stepping;
    await goesOn(TO, ran);
  });

  test('with its gate off 1.37 reads none of them, and has no gangs: one that waits for room starts in pieces', async () => {
    await givenGangs();
    const ran = await whereOf('runs');
    await cluster.plane.become({ ...TO, featureGates: {}, gangApi: undefined });
    await until('some are bound', async () => (await cluster.podsOf('waits')).some(isBound));
    expect((await cluster.podsOf('waits')).every(isBound)).toBe(false);
    expect(await whereOf('runs')).toEqual(ran);
    expect((await podGroupsAsked(cluster.client, TO)).status).toBe(404);
    expect((await keptInEtcd(cluster.plane)).length).toBeGreaterThan(0);
  });

  test('and back: as it went forth', async () => {
    await cluster.plane.become(TO);
    await cluster.restart();
    await cluster.createGang('there', [group('worker', 2)]);
    await pods('there', 0, 2);
    await untilCounted(TO, 'there', 2);
    await cluster.untilBound('there', 2);
    await cluster.createGang('held', [group('leader', 1), group('worker', 2)]);
    await pods('held', 0, 2);
    await untilCounted(TO, 'held', 3);
    const ran = await whereOf('there');
    const stepping = cluster.plane.become(FROM);
    stepping.catch(() => undefined);
    const said = await until('it cannot read them', async () => {
      const { status, body } = await podGroupsAsked(cluster.client, FROM);
      return status !== 200 && body.message?.includes('no kind "PodGroup"') && body.message;
    });
    expect(said).toContain('is registered for version "scheduling.k8s.io/v1beta1"');
    await deletedFromEtcd(cluster.plane);
    await stepping;
    await untilCounted(FROM, 'there', 2);
    await untilCounted(FROM, 'held', 3);
    expect(await whereOf('there')).toEqual(ran);
    expect((await cluster.podsOf('held')).filter(isBound)).toEqual([]);
    await pods('held', 0, 1, 'leader');
    await cluster.untilBound('held', 3);
    expect(judge(await historyOf(cluster.plane.etcdUrl, NAMESPACE)).broken).toEqual(NOTHING_BROKEN);
  });
});
