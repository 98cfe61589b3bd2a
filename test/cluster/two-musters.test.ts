/** Two installations that share a cluster: each has its namespaces, by a label, in the loop and in the webhooks. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_NAMESPACE, MUSTER_USER } from '../../src/api/names.ts';
import { webhookConfigurations } from '../support/manifests.ts';
import type { Serving } from '../support/serving.ts';
import type { Client } from './control-plane/client.ts';
import { readKubeconfig } from './control-plane/kubeconfig.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll } from './support/apply.ts';
import { startFaultProxy, type FaultProxy } from './support/fault-proxy.ts';
import { STEADY_LEASE, startLoopingReplica } from './support/looping-muster.ts';
import { policiesInForce } from './support/policies-in-force.ts';
import { DRY_RUN, GATE, gangPod, gatesOf, podGang, type StoredPod } from './support/registered-muster.ts';
import { untilReady, withMuster, type OnMuster } from './support/with-muster.ts';

const LABEL = 'muster';
/** A namespace of each of the two, and one of neither. */
const PLACES = ['a', 'b', 'nobodys'] as const;
type Place = (typeof PLACES)[number];

const leaseOf = (place: Place): string => `muster-leader-election-${place}`;

interface Installation {
  readonly serving: Serving;
  readonly proxy: FaultProxy;
  /** Paths of its writes, but of its Lease. */
  readonly writes: string[];
}

clusterSuite('two Musters with a part of the namespaces each', () => {
  let on: OnMuster;
  let client: Client;
  const installed = new Map<Place, Installation>();

  beforeAll(async () => {
    on = await withMuster({ muster: 'none', plane: { scheduler: true } });
    ({ client } = on.plane);
    await on.plane.addNode('node-1', { cpu: 64 });
    await policiesInForce(client);
    for (const name of PLACES)
      await applyAll(client, [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [LABEL]: name } } as never },
      ]);
    await install('a');
    await install('b');
  }, 180_000);
  afterAll(async () => {
    for (const { serving, proxy } of installed.values()) {
      await serving.close();
      await proxy.close();
    }
    await on?.close();
  }, 60_000);

  const install = async (name: Place): Promise<void> => {
    await mayHaveLease(leaseOf(name));
    const access = await readKubeconfig(await on.plane.kubeconfigFor(MUSTER_USER));
    const proxy = await startFaultProxy(access, on.certificates.path, `of-${name}`);
    const writes: string[] = [];
    proxy.setFates(({ method, path }) => {
      if (method !== 'GET' && !path.includes('/leases')) writes.push(`${method} ${path}`);
      return {};
    });
    const serving = await startLoopingReplica(
      on.plane,
      on.certificates.path,
      {
        scheduler: { profiles: [{ name: 'default-scheduler' }], defaultProfileName: 'default-scheduler' },
        controllers: { podGang: { namespaceSelector: { matchLabels: { [LABEL]: name } } } },
        leaderElection: { ...STEADY_LEASE, resourceName: leaseOf(name) },
      },
      proxy.kubeconfig,
    );
    installed.set(name, { serving, proxy, writes });
    await untilReady(serving);
    const configurations = await webhookConfigurations(serving.port, on.certificates.ca);
    for (const { webhooks = [] } of configurations as { webhooks?: { namespaceSelector?: object }[] }[])
      for (const webhook of webhooks)
        webhook.namespaceSelector = { ...webhook.namespaceSelector, matchLabels: { [LABEL]: name } };
    await applyAll(
      client,
      configurations.map((one) => ({ ...one, metadata: { ...one.metadata, name: `muster-${name}` } })),
    );
    await until(`${name} is asked about its Pods`, async () => {
      const { body } = await client.request<StoredPod>(
        'POST',
        podsOf(name),
        gangPod({ name: 'probe' }),
        DRY_RUN,
      );
      return gatesOf(body).includes(GATE) && serving.decisions().length > 0;
    });
  };
  /** The Role of the manifests names one Lease; each installation has its own. */
  const mayHaveLease = (lease: string): Promise<void> => {
    const group = 'rbac.authorization.k8s.io';
    const metadata = { name: lease, namespace: MUSTER_NAMESPACE };
    const subjects = [{ kind: 'ServiceAccount', name: 'muster', namespace: MUSTER_NAMESPACE }];
    const rules = [
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [lease],
        verbs: ['get', 'update'],
      },
    ];
    const apiVersion = `${group}/v1`;
    const roleRef = { apiGroup: group, kind: 'Role', name: lease };
    const role: object[] = [
      { apiVersion, kind: 'Role', metadata, rules },
      { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
    ];
    return applyAll(client, role as never);
  };
  const podsOf = (place: Place): string => `/api/v1/namespaces/${place}/pods`;
  const create = async (place: Place, gang: string): Promise<void> => {
    const path = `/apis/scheduler.grove.io/v1alpha1/namespaces/${place}/podgangs`;
    const groups = [
      { name: 'leader', minReplicas: 1, podReferences: [] },
      { name: 'worker', minReplicas: 2, podReferences: [] },
    ];
    await client.ok('POST', path, {
      ...podGang(gang),
      metadata: { name: gang },
      spec: { podgroups: groups },
    });
    for (const index of [0, 1, 2]) {
      const labels = { 'grove.io/podgang': gang, 'grove.io/podclique': index === 0 ? 'leader' : 'worker' };
      await client.ok('POST', podsOf(place), gangPod({ name: `${gang}-${index}` }, {}, labels));
    }
  };
  const bound = (place: Place, gang: string): Promise<boolean> =>
    until(`${place}/${gang} is bound`, async () => {
      const { items } = await client.ok<{
        items: { metadata: { name: string }; spec: { nodeName?: string } }[];
      }>('GET', podsOf(place));
      const pods = items.filter(({ metadata }) => metadata.name.startsWith(gang));
      return pods.length === 3 && pods.every(({ spec }) => spec.nodeName !== undefined);
    });
  const of = (place: Place): Installation => {
    const found = installed.get(place);
    if (found === undefined) throw new Error(`${place} has no Muster`);
    return found;
  };
  /** Namespaces that a Muster has written in, but its own and where backends are shown. */
  const wroteIn = (place: Place): string[] =>
    [...new Set(of(place).writes.flatMap((path) => /\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? []))].filter(
      (name) => name !== MUSTER_NAMESPACE && name !== 'default',
    );

  test('release the gangs of their own and write nothing in the others’ namespaces; where neither is, nothing happens', async () => {
    await Promise.all(PLACES.flatMap((place) => [create(place, 'first'), create(place, 'second')]));
    await Promise.all(
      (['a', 'b'] as const).flatMap((place) => [bound(place, 'first'), bound(place, 'second')]),
    );
    expect([wroteIn('a'), wroteIn('b')]).toEqual([['a'], ['b']]);
    // The policies, which are the cluster's, put the gate on there too: nobody takes it off.
    const { items } = await client.ok<{ items: StoredPod[] }>('GET', podsOf('nobodys'));
    expect(items.map(gatesOf)).toEqual(items.map(() => [GATE]));
    const asked = (place: Place): string[] => [
      ...new Set(
        of(place)
          .serving.decisions()
          .map(({ namespace }) => String(namespace)),
      ),
    ];
    expect([asked('a'), asked('b')]).toEqual([['a'], ['b']]);
  }, 120_000);

  test('one that is down holds nobody up but its own', async () => {
    const { serving } = of('b');
    await serving.kill();
    await create('a', 'third');
    await bound('a', 'third');
    await expect(create('b', 'third')).rejects.toThrow('failed calling webhook');
    expect(wroteIn('a')).toEqual(['a']);
  }, 120_000);

  test('a namespace goes from one to the other by its label', async () => {
    await client.ok('PATCH', '/api/v1/namespaces/b', { metadata: { labels: { [LABEL]: 'a' } } });
    await until('the API server asks the other', async () => {
      const { status } = await client.request('POST', podsOf('b'), gangPod({ name: 'probe' }), DRY_RUN);
      return status === 201;
    });
    await create('b', 'third');
    await bound('b', 'third');
    expect(wroteIn('a')).toEqual(['a', 'b']);
  }, 120_000);
});
