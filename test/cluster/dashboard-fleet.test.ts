/** What the dashboard says of a fleet and of backends on a real API server, to an administrator and to whoever has no rights. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BackendRegistry, builtInBackends } from '../../src/backends/registry.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { backendsStatus } from '../../src/status/backend-status.ts';
import { fleetMembers } from '../../src/status/fleet-members.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { untilEstablished } from './support/apply.ts';
import { clusterResourceBindings, fleetClusters, resourceBindings } from './support/crds/karmada.ts';
import { volcanoPodGroups } from './support/crds/volcano.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ROOT = '/apis/work.karmada.io/v1alpha2';

clusterSuite('the dashboard’s fleet and backends, on a real API server', () => {
  let plane: ControlPlane;
  let admin: KubeClient;
  let nobody: KubeClient;

  const clientOf = async (kubeconfig: string): Promise<KubeClient> =>
    createKubeClient(await findConnection({ kubeconfig }));
  const backendsFor = async (client: KubeClient) => {
    const profiles = builtInBackends.map(({ name }) => ({ name }));
    const registry = new BackendRegistry(profiles, 'volcano');
    const given = { registry, gangs: new Map([['volcano', 2]]), unnamed: undefined };
    const { backends } = await backendsStatus(client, given);
    return new Map(backends.map((one) => [one.name, one]));
  };

  beforeAll(async () => {
    plane = await startControlPlane();
    admin = await clientOf(plane.kubeconfig);
    nobody = await clientOf(await plane.kubeconfigFor('nobody'));
  }, 120_000);
  afterAll(async () => {
    await admin?.close();
    await nobody?.close();
    await plane?.stop();
  });

  test('there is no fleet before Karmada’s kinds are served, whatever rights there are', async () => {
    for (const client of [admin, nobody])
      expect((await fleetMembers(client, 'muster')).absent).toMatch(
        /^This API server is not Karmada’s, it serves no clusters\.cluster\.karmada\.io and no /,
      );
  });

  test('clusters and bindings, and the rights that they take', async () => {
    const definitions = [fleetClusters, resourceBindings, clusterResourceBindings];
    for (const one of definitions) await plane.client.ok('POST', DEFINITIONS, one);
    await untilEstablished(plane.client, definitions as never);
    await plane.client.ok('POST', '/apis/cluster.karmada.io/v1alpha1/clusters', {
      ...{ apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster' },
      metadata: { name: 'm1' },
      spec: {},
    });
    await plane.client.ok('POST', `${ROOT}/namespaces/default/resourcebindings`, {
      ...{ apiVersion: 'work.karmada.io/v1alpha2', kind: 'ResourceBinding' },
      metadata: { name: 'train', labels: { 'propagationpolicy.karmada.io/permanent-id': 'x' } },
      spec: {
        schedulerName: 'muster',
        resource: { apiVersion: 'batch/v1', kind: 'Job', name: 'train' },
        replicas: 1,
      },
    });
    expect(await fleetMembers(admin, 'muster')).toMatchObject({
      absent: null,
      clusters: [{ name: 'm1', ready: 'Unknown', free: null }],
      bindings: [{ namespace: 'default', name: 'train', workload: 'batch/v1 Job train', state: 'Waiting' }],
    });
    await expect(fleetMembers(nobody, 'muster')).rejects.toMatchObject({
      code: 'CLUSTER_REFUSED',
      message: expect.stringMatching(
        /User "nobody" cannot list resource "\w+" in API group "\w+\.karmada\.io"/,
      ),
      fix: expect.stringMatching(/^It takes the rights to list clusters\.cluster\.karmada\.io, /),
    });
  });

  test('backends: what is served everybody may see, the fields of definitions not', async () => {
    await plane.client.ok('POST', DEFINITIONS, volcanoPodGroups);
    await untilEstablished(plane.client, [volcanoPodGroups] as never);
    const seen = await backendsFor(admin);
    expect(seen.get('volcano')).toMatchObject({ default: true, state: 'Ready', gangs: 2 });
    expect(seen.get('coscheduling')).toMatchObject({ state: 'NotReady', kinds: [{ served: false }] });
    const unseen = await backendsFor(nobody);
    expect(unseen.get('default-scheduler')?.state).toBe('Ready');
    expect(unseen.get('volcano')).toMatchObject({
      state: 'Unseen',
      kinds: [{ kind: 'PodGroup', served: true }],
      says: [
        expect.stringMatching(
          /^what it takes cannot be seen: .* cannot get resource "customresourcedefinitions"/,
        ),
      ],
    });
    expect(unseen.get('coscheduling')).toMatchObject({ state: 'Unseen', kinds: [{ served: false }] });
  });
});
