/**
 * Muster with all its backends, under RBAC with exactly the rights that the manifests give for them: nothing that it tries is
 * forbidden, and there is no right that it does not use. So neither a verb that is missing nor one too many goes unnoticed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_USER } from '../../src/api/names.ts';
import { packageRoot } from '../../src/cli/version.ts';
import { systemClock } from '../../src/kube/client/clock.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { EventRecorder } from '../../src/kube/loop/event-recorder.ts';
import { POD_GANGS } from '../../src/kube/client/resources.ts';
import { accountManifests, OTHER_BACKENDS } from '../support/manifests.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import { requestsOf } from './support/audited.ts';
import { coschedulingPodGroups } from './support/crds/coscheduling.ts';
import { kaiPodGroups, kaiTopologies } from './support/crds/kai.ts';
import { volcanoPodGroups, volcanoQueues } from './support/crds/volcano.ts';
import { group } from './support/gang-objects.ts';
import { allUsed, rightsIn } from './support/granted.ts';
import {
  COMPOSITES,
  GANG_OBJECTS,
  HAS_POD_GROUPS,
  WITH_COMPOSITES,
  WORKLOADS,
} from './support/native-gangs.ts';
import { untilRefused, type Who } from './support/policies-alone.ts';
import { GANGS, GATE, gangPod, NAMESPACE, podGang, PODS } from './support/registered-muster.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

const TOPOLOGY = '/apis/kai.scheduler/v1alpha1/topologies/levels';
const [ZONE, HOST] = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'];

/** The objects of each backend's gangs, and what they are called there. */
interface Kept {
  readonly name: string;
  readonly paths: readonly string[];
  readonly called: (gang: string, path: string) => string;
}

const BACKENDS: readonly Kept[] = [
  {
    name: 'default-scheduler',
    paths: [WORKLOADS, ...(WITH_COMPOSITES ? [COMPOSITES] : []), ...(HAS_POD_GROUPS ? [GANG_OBJECTS] : [])],
    called: (gang, path) => (WITH_COMPOSITES && path === GANG_OBJECTS ? `${gang}.worker` : gang),
  },
  {
    name: 'kai-scheduler',
    paths: [`/apis/scheduling.run.ai/v2alpha2/namespaces/${NAMESPACE}/podgroups`],
    called: (gang) => `${NAMESPACE}.${gang}`,
  },
  {
    name: 'volcano',
    paths: [`/apis/scheduling.volcano.sh/v1beta1/namespaces/${NAMESPACE}/podgroups`],
    called: (gang) => gang,
  },
  {
    name: 'coscheduling',
    paths: [`/apis/scheduling.x-k8s.io/v1alpha1/namespaces/${NAMESPACE}/podgroups`],
    called: (gang) => gang,
  },
];

const KINDS: Readonly<Record<string, string>> = {
  workloads: 'Workload',
  compositepodgroups: 'CompositePodGroup',
  podgroups: 'PodGroup',
};

const settingsOf = (levels: readonly string[], defaultProfileName: string) => ({
  scheduler: {
    profiles: [
      { name: 'default-scheduler' },
      { name: 'kai-scheduler', config: { queue: 'q', topologyName: 'levels' } },
      { name: 'volcano' },
      { name: 'coscheduling' },
    ],
    defaultProfileName,
  },
  topologyAwareScheduling: {
    enabled: true,
    levels: levels.map((key) => ({ domain: key.replace(/.*\//, ''), key })),
  },
});

/** Asked of the authorizer by an admission plugin, and no request of Muster's: the plugin is on, and would forbid creations. */
const ASKED_FOR_IT = ['update podgangs.scheduler.grove.io/finalizers'];
async function grantedRights(): Promise<string[]> {
  const roles = await accountManifests();
  return rightsIn(roles.filter(({ metadata }) => !metadata.name.startsWith('muster-podgang-')));
}

test('the rights of whatever can be installed are held to what is used: here, or by the suite that runs it', () => {
  const manifests = join(packageRoot() ?? '', 'manifests');
  const grants = readdirSync(manifests, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('rbac.yaml'),
  );
  const here = ['base', ...OTHER_BACKENDS.map((name) => `components/${name}`)];
  const suites = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
  const elsewhere = suites.flatMap((name) => [
    ...readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(/untilEachIsUsed\([^']*'([^']+)'/g),
  ]);
  expect(grants.map(dirname).sort()).toEqual([...here, ...elsewhere.map(([, folder]) => folder)].sort());
});

clusterSuite('the rights of Muster’s account', () => {
  let on: OnMuster;

  const ok = <T = { metadata: { labels?: Record<string, string> } }>(
    method: string,
    path: string,
    body?: object,
    who: Who = {},
  ) => on.plane.client.ok<T>(method, path, body, who);
  const createGang = (name: string, backend: string, annotations: object = {}) =>
    ok('POST', GANGS, {
      ...podGang(name),
      metadata: { name, annotations, labels: { 'grove.io/scheduler-name': backend } },
      // One group alone needs nothing that holds several together.
      spec: { podgroups: [group('worker', 1), ...(/^(g|taken)-/.test(name) ? [group('leader', 1)] : [])] },
    });
  const createPod = (gang: string, labels: Record<string, string> = {}) =>
    ok(
      'POST',
      PODS,
      gangPod(
        { name: `${gang}-0` },
        { schedulingGates: [{ name: GATE }] },
        { 'grove.io/podgang': gang, ...labels },
      ),
    );
  const untilUngated = (gang: string) =>
    until(`the gate of ${gang} is off`, async () => {
      const pod = await ok<{ metadata: { uid: string }; spec: { schedulingGates?: object[] } }>(
        'GET',
        `${PODS}/${gang}-0`,
      );
      return pod.spec.schedulingGates === undefined ? pod : undefined;
    });

  beforeAll(async () => {
    on = await withMuster({
      muster: 'none',
      plane: {
        auditPolicy: 'Metadata',
        ...WITH_COMPOSITES,
        extraApiServerArgs: ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'],
      },
    });
    const definitions = [
      kaiPodGroups('0.17'),
      kaiTopologies,
      volcanoPodGroups,
      volcanoQueues,
      coschedulingPodGroups,
    ] as unknown as Parameters<typeof untilEstablished>[1];
    await applyAll(on.plane.client, definitions);
    await untilEstablished(on.plane.client, definitions);
    await ok('POST', '/apis/scheduling.volcano.sh/v1beta1/queues', {
      apiVersion: 'scheduling.volcano.sh/v1beta1',
      kind: 'Queue',
      metadata: { name: 'q' },
      spec: { weight: 1 },
    });
    // What Muster does must be within the bounds of the policies, too.
    const applied = await on.plane.kubectl(['apply', '-k', 'manifests/policies']);
    expect(applied).toMatchObject({ code: 0 });
    const stranger = {
      apiVersion: 'scheduling.volcano.sh/v1beta1',
      kind: 'PodGroup',
      spec: { minMember: 1 },
    };
    const forged = { name: 'forged', labels: { 'app.kubernetes.io/managed-by': 'muster' } };
    const at = `/apis/scheduling.volcano.sh/v1beta1/namespaces/${NAMESPACE}/podgroups`;
    await untilRefused(on.plane, 'muster-gang-objects', ['POST', at, { ...stranger, metadata: forged }, {}]);
    await on.put(await on.start(settingsOf([ZONE], 'default-scheduler')));
  }, 120_000);
  afterAll(() => on?.close(), 60_000);

  test.each(BACKENDS)(
    'objects of $name come, change and go',
    async ({ name, paths, called }) => {
      const gang = `g-${name}`;
      const queue = { 'scheduling.grove.io/volcano-queue': 'q' };
      await createGang(gang, name, name === 'volcano' ? queue : {});
      const each = (
        what: string,
        done: (object: { metadata: { labels?: Record<string, string> } }) => boolean,
      ) =>
        until(`${name} ${what}`, async () => {
          const objects = await Promise.all(paths.map((path) => ok('GET', `${path}/${called(gang, path)}`)));
          return objects.every(done);
        });
      await each('has objects', () => true);
      await ok('PATCH', `${GANGS}/${gang}`, { metadata: { labels: { team: 'x' } } });
      await each('passes labels on', ({ metadata }) => metadata.labels?.['team'] === 'x');
      const other = name === 'volcano' ? 'coscheduling' : 'volcano';
      await ok('PATCH', `${GANGS}/${gang}`, { metadata: { labels: { 'grove.io/scheduler-name': other } } });
      // In the way of a gang of this name stands what somebody else made: it is read, and left.
      for (const [index, path] of paths.entries()) {
        const [, apiVersion = '', plural = ''] = /^\/apis\/([^/]+\/[^/]+)\/.*?([^/]+)$/.exec(path) ?? [];
        const kind = KINDS[plural] ?? '';
        const policy = { basic: {} };
        const native =
          kind === 'Workload'
            ? { podGroupTemplates: [{ name: 'gang', schedulingPolicy: policy }] }
            : { schedulingPolicy: policy, workloadRef: { workloadName: 'w', templateName: 't' } };
        const before = { podGroups: [{ name: 'gang', policy }] };
        const spec = name !== 'default-scheduler' ? { minMember: 1 } : HAS_POD_GROUPS ? native : before;
        const taken = `taken-${index}-${name}`;
        await ok('POST', path, { apiVersion, kind, metadata: { name: called(taken, path) }, spec });
        await createGang(taken, name, name === 'volcano' ? queue : {});
      }
    },
    60_000,
  );

  test('a gang lives, and what is said again is counted', async () => {
    await createGang('train', 'default-scheduler');
    await createPod('train');
    const { metadata } = await untilUngated('train');
    // A count is written a minute after the Event: a clock that is ahead says it at once.
    const client = createKubeClient(
      await findConnection({ kubeconfig: await on.plane.kubeconfigFor(MUSTER_USER) }),
    );
    let ahead = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + ahead };
    const recorder = new EventRecorder({ client, clock, controller: 'muster', instance: 'test' });
    const say = () =>
      recorder.event(
        { resource: POD_GANGS, namespace: NAMESPACE, name: 'train', uid: metadata.uid },
        { type: 'Normal', reason: 'Said', note: 'again' },
      );
    say();
    const said = () => requestsOf(on.plane, MUSTER_USER);
    await until('it is said', async () =>
      (await said()).some(({ verb, resource }) => verb === 'create' && resource.startsWith('events')),
    );
    ahead = 61_000;
    await until('it is counted', async () => {
      say();
      ahead += 61_000;
      return (await said()).some(({ verb, resource }) => verb === 'patch' && resource.startsWith('events'));
    });
    await recorder.stop();
    await client.close();
  }, 60_000);

  test('a gang that waited for another is read once more before its gates come off', async () => {
    await createGang('more', 'default-scheduler');
    await createPod('more', { 'grove.io/base-podgang': 'train' });
    await until('it is Initialized', async () => {
      const { status } = await ok<{ status?: { conditions: { type: string; status: string }[] } }>(
        'GET',
        `${GANGS}/more`,
      );
      return status?.conditions.some(({ type, status: is }) => type === 'Initialized' && is === 'True');
    });
    // Nothing is written to it in the turn that lifts its gates, so no answer to a write can stand for the read.
    await ok('POST', `${PODS}/train-0/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'train-0' },
      target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
    });
    await untilUngated('more');
  }, 60_000);

  test('a gang is made for each kind of workload that every cluster has, and goes when that rests', async () => {
    const template = (labels: object) => ({
      metadata: { labels: { app: 'x', ...labels } },
      spec: { restartPolicy: 'Always', containers: [{ name: 'main', image: 'example/a' }] },
    });
    const selector = { matchLabels: { app: 'x' } };
    const once = { ...template({}), spec: { ...template({}).spec, restartPolicy: 'Never' } };
    const kinds = [
      {
        ...{ kind: 'Job', apiVersion: 'batch/v1', plural: 'jobs', spec: { template: once } },
        labels: { 'batch.kubernetes.io/job-name': 'made' },
      },
      {
        ...{ kind: 'StatefulSet', apiVersion: 'apps/v1', plural: 'statefulsets' },
        spec: { serviceName: 'x', podManagementPolicy: 'Parallel', selector, template: template({}) },
        labels: { 'statefulset.kubernetes.io/pod-name': 'made-0' },
      },
      {
        ...{ kind: 'ReplicaSet', apiVersion: 'apps/v1', plural: 'replicasets' },
        ...{ spec: { selector, template: template({}) }, labels: {} },
      },
    ];
    for (const { kind, apiVersion, plural, spec, labels } of kinds) {
      const path = `/apis/${apiVersion}/namespaces/${NAMESPACE}/${plural}`;
      const owner = await ok<{ metadata: { uid: string } }>('POST', path, {
        ...{ apiVersion, kind, metadata: { name: 'made' }, spec },
      });
      const gang = `${kind.toLowerCase()}-made`;
      const names = { 'muster.dev/gang': 'true', 'grove.io/podgang': gang, 'grove.io/podclique': 'main' };
      const controller = { apiVersion, kind, name: 'made', uid: owner.metadata.uid, controller: true };
      const pod = kind === 'StatefulSet' ? 'made-0' : `${gang}-0`;
      await ok(
        'POST',
        PODS,
        gangPod(
          { name: pod, ownerReferences: [controller] },
          { schedulingGates: [{ name: GATE }] },
          { ...names, ...labels },
        ),
      );
      await until(`PodGang ${gang} is made`, () => ok('GET', `${GANGS}/${gang}`));
      if (kind !== 'Job') continue;
      await ok('PATCH', `${path}/made`, { spec: { suspend: true } });
      await ok('DELETE', `${PODS}/${pod}`);
      await until(
        'a Job that is suspended has no gang',
        async () => (await on.plane.client.request('GET', `${GANGS}/${gang}`)).status === 404,
      );
    }
  }, 60_000);

  test('a Topology of the cluster is kept, put right and made anew; another default is shown', async () => {
    interface Topology {
      metadata: { annotations: Record<string, string>; labels: Record<string, string>; uid: string };
    }
    const { metadata } = await until('the Topology is there', () => ok<Topology>('GET', TOPOLOGY));
    const applied = JSON.parse(metadata.annotations['muster.dev/applied'] ?? '') as { labels: object };
    const more = JSON.stringify({ ...applied, labels: { ...applied.labels, old: 'x' } });
    const earlier = { metadata: { labels: { old: 'x' }, annotations: { 'muster.dev/applied': more } } };
    await ok('PATCH', TOPOLOGY, earlier, { as: MUSTER_USER, asGroups: ['system:masters'] });
    await on.restart(settingsOf([ZONE], 'volcano'));
    await until('what is not asked for any more is taken off', async () => {
      return !('old' in (await ok<Topology>('GET', TOPOLOGY)).metadata.labels);
    });
    await on.restart(settingsOf([ZONE, HOST], 'volcano'));
    await until(
      'another list is another object',
      async () => (await ok<Topology>('GET', TOPOLOGY)).metadata.uid !== metadata.uid,
    );
  }, 60_000);

  test('each right is used, and none is missing', async () => {
    const granted = await grantedRights();
    expect(granted.length).toBeGreaterThan(55);
    // What a rule of another role gives as well could be dropped here, and nobody would notice.
    const twice = granted.filter((right, index) => {
      const ofAnyName = right.split(' ').slice(0, 2).join(' ');
      return granted.some((other, at) => at !== index && (other === right || other === ofAnyName));
    });
    expect(twice).toEqual([]);
    const missing = (expected: readonly string[]): Promise<boolean> =>
      allUsed(
        on.plane,
        expected.filter((right) => !ASKED_FOR_IT.includes(right)),
      );
    await until('each verb is used', () => missing(granted.filter((right) => !right.startsWith('watch '))));
    await on.muster.terminate();
    // The log has a watch only once it has ended.
    await until('each watch is used', () => missing(granted));
    const refused = (await requestsOf(on.plane, MUSTER_USER)).filter(
      ({ status, forbidden }) => forbidden || status === 403,
    );
    expect(refused).toEqual([]);
  }, 60_000);
});
