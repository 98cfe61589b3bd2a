/** Beside the Grove operator, for which a client stands in; and that the loop has exactly the rights that it uses. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { GROVE_OPERATOR_USER, MUSTER_USER } from '../../src/api/names.ts';
import { manifestsIn } from '../support/manifests.ts';
import type { Client } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { requestsOf } from './support/audited.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group } from './support/gang-objects.ts';
import { GATE, NAMESPACE } from './support/registered-muster.ts';

const MANAGED = { 'app.kubernetes.io/managed-by': 'grove-operator' };

/** What Grove's own manifests grant its operator, as far as it writes gangs and Pods. */
const groveRights = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'grove-operator' },
    rules: [
      { apiGroups: ['scheduler.grove.io'], resources: ['podgangs', 'podgangs/status'], verbs: ['*'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['*'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'grove-operator' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'grove-operator' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: GROVE_OPERATOR_USER }],
  },
];

/** Granted, and not used in the minute that this file takes. */
const USED_ELSEWHERE: Readonly<Record<string, string>> = {
  'patch events.events.k8s.io':
    'an Event that is said again is counted, at most once a minute (test/unit/controller/event-recorder.test.ts)',
  'get schedulerbackends.muster.dev':
    'what was shown before a restart, or before a backend changed (test/cluster/backend-choice.test.ts)',
  'update podgangs.scheduler.grove.io/finalizers':
    'no request: an admission plugin asks for it where owner references block deletion',
  ...Object.fromEntries(
    ['workloads', 'podgroups'].flatMap((plural) =>
      ['get', 'patch', 'delete'].map((verb) => [
        `${verb} ${plural}.scheduling.k8s.io`,
        'a gang that changes, or a cache that is behind (test/cluster/kube-backend-objects.test.ts)',
      ]),
    ),
  ),
};

/** Schedulers that are not in this cluster: each backend's own cluster test runs with the same rights. */
const OF_OTHER_SCHEDULERS =
  /\.(scheduling\.run\.ai|kai\.scheduler|scheduling\.volcano\.sh|scheduling\.x-k8s\.io)$/;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

clusterSuite('beside the Grove operator', () => {
  let cluster: GangCluster;
  let grove: Client;

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true });
    const stdin = groveRights.map((object) => JSON.stringify(object)).join('\n---\n');
    const applied = await cluster.plane.kubectl(['apply', '-f', '-'], { stdin });
    expect(applied).toMatchObject({ code: 0 });
    grove = await cluster.plane.clientFor(await cluster.plane.kubeconfigFor(GROVE_OPERATOR_USER));
  }, 120_000);
  afterAll(() => cluster?.stop(), 60_000);

  const initialized = (status: 'True' | 'False', reason: string) => ({
    status: {
      phase: 'Pending',
      conditions: [
        { type: 'Initialized', status, reason, message: '', lastTransitionTime: new Date().toISOString() },
      ],
    },
  });
  const workers = ['theirs-worker-0', 'theirs-worker-1'];

  test('a gang of Grove’s is Grove’s alone, while one of Muster’s forms in the same namespace', async () => {
    await cluster.createGang('theirs', [group('worker', 2)], { labels: MANAGED });
    for (const name of ['worker-0', 'worker-1'])
      await cluster.createPod('theirs', name, 'worker', { labels: MANAGED });
    await cluster.life('ours');
    expect(await cluster.gang('theirs')).not.toHaveProperty('status');
    expect(await cluster.references('theirs')).toEqual([[]]);
    expect((await cluster.podsOf('theirs')).map(gatesOf)).toEqual([[GATE], [GATE]]);
    const says = 'the Grove operator writes the references, Initialized and the gates of this gang';
    expect(await cluster.status('theirs')).toMatchObject({
      why: says,
      pods: [{ reason: says }, { reason: says }],
    });

    // As Grove does: not Initialized, the references, Initialized, and then gate after gate.
    const theirs = `${cluster.gangs()}/theirs`;
    await grove.ok('PATCH', `${theirs}/status`, initialized('False', 'PodGangPodsCreationPending'));
    const podReferences = workers.map((name) => ({ namespace: NAMESPACE, name }));
    await grove.ok('PATCH', theirs, { spec: { podgroups: [group('worker', 2, podReferences)] } });
    await grove.ok('PATCH', `${theirs}/status`, initialized('True', 'PodGangPodsCreated'));
    await cluster.life('ours-too');
    expect((await cluster.podsOf('theirs')).map(gatesOf)).toEqual([[GATE], [GATE]]);
    for (const name of workers) {
      const ungate = [{ op: 'remove', path: '/spec/schedulingGates/0' }];
      await grove.ok('PATCH', `${cluster.pods()}/${name}`, ungate);
    }
    await cluster.untilBound('theirs', 2);
    await cluster.removePod('theirs-worker-0');
    await cluster.life('ours-later');

    expect((await cluster.gang('theirs')).status?.conditions).toHaveLength(1);
    expect(await cluster.references('theirs')).toEqual([workers]);
    // The scheduler's objects are Muster's to keep, here too.
    const requests = (await cluster.requestsAbout('theirs')).map(
      ({ verb, resource }) => `${verb} ${resource}`,
    );
    expect(requests).toEqual(['create workloads.scheduling.k8s.io', 'create podgroups.scheduling.k8s.io']);
    expect(await cluster.events('PodGang', 'theirs')).toEqual([]);
    for (const name of workers) expect(await cluster.events('Pod', name)).toEqual([]);
  });

  test('the account has each right that the loop uses, and no other', async () => {
    await cluster.muster.terminate();
    const granted = (await manifestsIn('base'))
      .filter(({ kind }) => kind.endsWith('Role'))
      .filter(({ metadata }) => /^muster(-leader-election)?$/.test(String(metadata['name'])))
      .flatMap((role) => (role as unknown as { rules: Rule[] }).rules)
      .flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((apiGroup) =>
          resources.flatMap((resource) => verbs.map((verb) => `${verb} ${qualified(resource, apiGroup)}`)),
        ),
      )
      .filter((right) => !OF_OTHER_SCHEDULERS.test(right));
    // The log has a watch only once it has ended.
    const used = await until('every watch is in the audit log', async () => {
      const found = await requestsOf(cluster.plane, MUSTER_USER);
      const watches = granted.filter((right) => right.startsWith('watch '));
      const missing = watches.filter((right) => !found.some((one) => right === `watch ${one.resource}`));
      if (missing.length > 0) throw new Error(`not there: ${missing.join(', ')}`);
      return found;
    });
    expect(used.filter(({ forbidden }) => forbidden)).toEqual([]);
    const seen = used.map(({ verb, resource }) => `${verb} ${resource}`);
    expect(new Set([...seen, ...Object.keys(USED_ELSEWHERE)])).toEqual(new Set(granted));
    // A backend may change in that minute as well.
    const twice = seen.filter((one) => one in USED_ELSEWHERE && !one.includes('schedulerbackends'));
    expect(twice).toEqual([]);
  });
});

/** A resource as the audit log names it here: the group behind the resource, the subresource behind that. */
function qualified(resource: string, apiGroup: string): string {
  const [name = '', subresource] = resource.split('/');
  const full = apiGroup === '' ? name : `${name}.${apiGroup}`;
  return subresource === undefined ? full : `${full}/${subresource}`;
}
