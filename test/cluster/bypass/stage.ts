import { join } from 'node:path';
import { MUSTER_NAMESPACE, MUSTER_USER } from '../../../src/api/names.ts';
import { kustomized } from '../../../src/cli/doctor/installed/kustomize.ts';
import { manifestsIn, type KubernetesObject, webhookConfigurations } from '../../support/manifests.ts';
import { packageRoot } from '../../../src/cli/version.ts';
import type { Serving } from '../../support/serving.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { applyAll } from '../support/apply.ts';
import { policiesInForce } from '../support/policies-in-force.ts';
import { DRY_RUN, gangPod, PODS } from '../support/registered-muster.ts';
import { withMuster } from '../support/with-muster.ts';
import { MAX_CONNECTIONS, NODE } from './scene.ts';
import { COMPONENTS, type State } from './way.ts';

/** A control plane with Muster and its policies, which goes through the states in their order. */
export interface Stage {
  readonly plane: ControlPlane;
  readonly muster: Serving;
  /** The folder of the serving certificate. */
  readonly certificates: string;
  enter(state: State): Promise<void>;
  close(): Promise<void>;
}

const CONFIGURATIONS = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
  (kind) => `/apis/admissionregistration.k8s.io/v1/${kind}/muster`,
);

export async function openStage(): Promise<Stage> {
  const on = await withMuster({
    // Accounts of nodes have the rights that they have in a cluster; `edit` is put together by a controller.
    plane: {
      controllerManager: true,
      // Each of a thousand namespaces would get an account and a ConfigMap that nobody here looks at.
      withoutControllers: ['serviceaccount-controller', 'root-ca-certificate-publisher-controller'],
      extraApiServerArgs: ['--authorization-mode=Node', '--enable-admission-plugins=NodeRestriction'],
    },
    settings: {
      server: {
        webhooks: { limits: { maxConnections: MAX_CONNECTIONS }, drain: { seconds: 0, maxSeconds: 5 } },
      },
      // The others' definitions are not there: what is kept of their gangs is kept by the policies.
      scheduler: {
        profiles: ['default-scheduler', 'volcano', 'coscheduling'].map((name) => ({ name })),
        defaultProfileName: 'default-scheduler',
      },
      hpc: { enabled: true },
    },
  });
  const { plane, muster, certificates } = on;
  const { client } = plane;
  try {
    await plane.addNode(NODE);
    for (const component of COMPONENTS) await applyAll(client, await manifestsIn(`components/${component}`));
    await policiesInForce(client);
    await boundOfCertificates(plane);
    await until('the ClusterRole edit is put together', async () => {
      const { rules } = await client.ok<{ rules?: readonly { apiGroups?: readonly string[] }[] }>(
        'GET',
        '/apis/rbac.authorization.k8s.io/v1/clusterroles/edit',
      );
      return rules?.some(({ apiGroups }) => apiGroups?.includes('scheduler.grove.io'));
    });
  } catch (error) {
    await on.close();
    throw error;
  }

  /** A gang Pod without a group: Muster refuses it, and nobody else asks. */
  const asked = async (): Promise<number> =>
    (
      await client.request(
        'POST',
        PODS,
        gangPod({ name: 'probe' }, {}, { 'grove.io/podclique': '' }),
        DRY_RUN,
      )
    ).status;
  return {
    plane,
    muster,
    certificates: certificates.path,
    enter: async (state) => {
      if (state === 'gone') {
        for (const path of CONFIGURATIONS) await client.ok('DELETE', path);
        await until('the API server asks nobody', async () => (await asked()) === 201);
      }
      if (state === 'down') {
        await muster.close();
        await applyAll(client, await webhookConfigurations(muster.port, certificates.ca));
        await until('the API server finds nobody', async () => (await asked()) === 500);
      }
    },
    close: () => on.close(),
  };
}

/** Of the base's policies the component of certificates changes one, and only an overlay has it so. */
async function boundOfCertificates({ client }: ControlPlane): Promise<void> {
  const overlay = kustomized(join(packageRoot() ?? '', 'manifests/overlays/in-cluster'));
  const changed = (overlay as unknown as KubernetesObject[]).filter(
    ({ metadata }) => metadata.name === 'muster-account-gang-objects',
  );
  await applyAll(client, changed);
  await until('Muster may change its Secret', async () => {
    const path = `/api/v1/namespaces/${MUSTER_NAMESPACE}/secrets/muster-certificates`;
    const as = { as: MUSTER_USER, ...DRY_RUN };
    return (await client.request('PATCH', path, { data: { x: 'eA==' } }, as)).status === 200;
  });
}
