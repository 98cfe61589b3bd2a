/** Beside the Grove operator, for which a client stands in. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { GROVE_OPERATOR_USER, MUSTER_USER } from '../../src/api/names.ts';
import type { Client } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
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

clusterSuite('beside the Grove operator', () => {
  let cluster: GangCluster;
  let grove: Client;

  beforeAll(async () => {
    cluster = await GangCluster.start({
      webhooks: true,
      settings: { trustedAccounts: [MUSTER_USER, GROVE_OPERATOR_USER] },
    });
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
      why: `the references are being written; ${says}`,
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
});
