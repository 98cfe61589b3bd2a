/**
 * A gang under Flux with each scheduler whose objects Muster keeps: both the scheduler's and Flux's are there before a gate is
 * off, nothing of either is changed by a restart, and the policy may neither change nor go unnoticed while Pods have it.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_USER } from '../../src/api/names.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { requestsOf, type Audited } from './support/audited.ts';
import { coschedulingPodGroups } from './support/crds/coscheduling.ts';
import { volcanoPodGroups, volcanoQueues } from './support/crds/volcano.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group, type Pod } from './support/gang-objects.ts';
import { HAS_POD_GROUPS } from './support/native-gangs.ts';
import { policiesInForce } from './support/policies-in-force.ts';
import { NAMESPACE } from './support/registered-muster.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const POLICIES = `/apis/muster.dev/v1alpha1/namespaces/${NAMESPACE}/hpcpolicies`;
const NATIVE = { name: 'default-scheduler' };

interface Case {
  readonly title: string;
  readonly backend: string;
  readonly profile: object;
  /** The kind that the scheduler reads, as RBAC names it; undefined: gates alone. */
  readonly object: string | undefined;
}

const NATIVE_OBJECT = HAS_POD_GROUPS ? 'podgroups.scheduling.k8s.io' : undefined;
const CASES: readonly Case[] = [
  {
    title: 'kube-scheduler and its own gangs',
    backend: 'default-scheduler',
    profile: NATIVE,
    object: NATIVE_OBJECT,
  },
  {
    title: 'kube-scheduler without its own gangs',
    backend: 'default-scheduler',
    profile: { ...NATIVE, config: { gangScheduling: false } },
    object: undefined,
  },
  {
    title: 'Volcano',
    backend: 'volcano',
    profile: { name: 'volcano' },
    object: 'podgroups.scheduling.volcano.sh',
  },
  {
    title: 'coscheduling',
    backend: 'coscheduling',
    profile: { name: 'coscheduling' },
    object: 'podgroups.scheduling.x-k8s.io',
  },
];

clusterSuite('gangs under Flux, by scheduler', () => {
  let cluster: GangCluster;

  const settingsOf = ({ profile, backend }: Case) => ({
    hpc: { enabled: true },
    scheduler: { profiles: [profile], defaultProfileName: backend },
  });
  const policyOf = (name: string, tasks: string) => ({
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'HPCPolicy',
    metadata: { name },
    spec: { hpc: { manager: 'flux', settings: { 'tasks-per-node': tasks } } },
  });
  const ofGang = (gang: string, all: readonly Audited[]): readonly Audited[] =>
    all.filter(({ name }) => name === gang || name.startsWith(`${gang}-`));

  beforeAll(async () => {
    const [first] = CASES;
    cluster = await GangCluster.start({
      webhooks: true,
      settings: settingsOf(first as Case),
    });
    for (const definition of [volcanoPodGroups, volcanoQueues, coschedulingPodGroups])
      await cluster.client.ok('POST', CRDS, definition);
    await policiesInForce(cluster.client);
  }, 120_000);
  afterAll(() => cluster?.stop(), 60_000);

  test.each(CASES)(
    'with $title',
    async (given) => {
      const { backend, object } = given;
      const gang = `flux-${CASES.indexOf(given)}`;
      const labels = { 'grove.io/scheduler-name': backend };
      await cluster.restart(settingsOf(given));
      await cluster.client.ok('POST', POLICIES, policyOf(gang, '2'));
      const annotations = { 'muster.dev/hpc-policy': gang };
      await cluster.createGang(gang, [group('leader', 1), group('worker', 2)], { labels, annotations });
      for (const [name, clique] of [
        ['leader-0', 'leader'],
        ['worker-0', 'worker'],
        ['worker-1', 'worker'],
      ] as const)
        await cluster.createPod(gang, name, clique, {
          labels,
          spec: { containers: [{ name: 'main', image: 'lammps', command: ['lmp'] }] },
        });
      const free = await until('its gates are off', async () => {
        const pods = await cluster.podsOf(gang);
        return pods.length === 3 && pods.every((pod) => gatesOf(pod).length === 0) && pods;
      });

      interface Prepared extends Pod {
        readonly spec: Pod['spec'] & {
          readonly schedulerName: string;
          readonly initContainers?: readonly { readonly name: string }[];
        };
      }
      for (const { metadata, spec } of free as readonly Prepared[])
        expect([metadata.name, spec.schedulerName, spec.initContainers?.map(({ name }) => name)]).toEqual([
          metadata.name,
          backend === 'coscheduling' ? 'scheduler-plugins-scheduler' : backend,
          ['flux-installer'],
        ]);
      // The log of the API server has a write some time after everybody sees it.
      const asked = await until('it is logged that the gates went off', async () => {
        const now = await requestsOf(cluster.plane, MUSTER_USER);
        return ofGang(gang, now).some(({ verb, resource }) => verb === 'patch' && resource === 'pods') && now;
      });
      const about = ofGang(gang, asked);
      const first = (verb: string, resource: string): number =>
        about.findIndex((one) => one.verb === verb && one.resource === resource && one.status < 300);
      const kept = ['configmaps', 'secrets', 'services', ...(object === undefined ? [] : [object])];
      for (const resource of kept) {
        const made = first('create', resource);
        expect([resource, made >= 0, made < first('patch', 'pods')]).toEqual([resource, true, true]);
      }
      // The key of Flux is written, and never read back.
      expect(asked.filter((one) => one.resource === 'secrets' && one.verb !== 'create')).toEqual([]);

      const before = about.length;
      await cluster.restart(settingsOf(given));
      const waited = await cluster.client
        .ok('PATCH', `${POLICIES}/${gang}`, { spec: policyOf(gang, '4').spec })
        .catch(String);
      expect(waited).toMatch(/a PodGang has Pods.*HpcPolicyInUse/);
      await cluster.client.ok('DELETE', `${POLICIES}/${gang}`);
      await until('it says that its policy is gone', async () =>
        /^HPCPolicy flux-\d was deleted under its Pods: those that run go on/.test(
          (await cluster.status(gang)).hpc?.why ?? '',
        ),
      );
      // Whether they are there is asked by creating them, since the account may not read Secrets.
      const since = await until('the process has looked after them', async () => {
        const now = ofGang(gang, await requestsOf(cluster.plane, MUSTER_USER)).slice(before);
        return ['configmaps', 'secrets', 'services'].every((kind) =>
          now.some(({ verb, resource }) => verb === 'create' && resource === kind),
        )
          ? now
          : undefined;
      });
      const done = since.filter(
        ({ verb, resource, status }) => verb !== 'get' && kept.includes(resource) && status !== 409,
      );
      expect(done).toEqual([]);
      await cluster.removeGang(gang);
    },
    120_000,
  );
});
