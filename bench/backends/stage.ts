import { LABEL_SCHEDULER_NAME, MUSTER_USER } from '../../src/api/names.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import type { ControlPlane } from '../../test/cluster/control-plane/control-plane.ts';
import { startControlPlane } from '../../test/cluster/control-plane/start.ts';
import { coschedulingPodGroups } from '../../test/cluster/support/crds/coscheduling.ts';
import { kaiPodGroups, kaiTopologies } from '../../test/cluster/support/crds/kai.ts';
import { volcanoPodGroups, volcanoQueues } from '../../test/cluster/support/crds/volcano.ts';
import { grantRights } from '../../test/cluster/support/looping-muster.ts';
import { CREATORS } from '../loop/stage.ts';
import { writeAudit } from '../loop/writes.ts';
import { GANG, GROUP, NAMESPACE } from '../admission/reviews.ts';
import { makeScratch, type Scratch } from '../admission/servers.ts';

/** A control plane that has the kinds of every built-in backend, and no scheduler: Muster alone writes to them. */
export interface BackendStage {
  readonly plane: ControlPlane;
  /** May do everything. */
  readonly client: KubeClient;
  readonly auditLog: string;
  /** Of Muster's account. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

const DEFINITIONS = [
  kaiPodGroups('0.17'),
  kaiTopologies,
  volcanoPodGroups,
  volcanoQueues,
  coschedulingPodGroups,
];

/** Native gangs are on, as the launcher has them. */
async function startBackendStage(scratch: Scratch): Promise<BackendStage> {
  const audit = writeAudit(scratch.folder);
  const plane = await startControlPlane({
    extraApiServerArgs: ['--delete-collection-workers=16', ...audit.args],
  });
  try {
    await grantRights(plane);
    await install(plane);
    const kubeconfig = await plane.kubeconfigFor(MUSTER_USER);
    const connection = await findConnection({ kubeconfig: plane.kubeconfig });
    const client = createKubeClient(connection, { connections: CREATORS, userAgent: 'bench' });
    const stop = async (): Promise<void> => {
      await client.close();
      await plane.stop();
    };
    return { plane, client, kubeconfig, auditLog: audit.logFile, stop };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

/** Something on a stage of its own, with a folder for it. */
export async function onStage<T>(run: (stage: BackendStage, scratch: Scratch) => Promise<T>): Promise<T> {
  const { scratch, remove } = await makeScratch();
  try {
    const stage = await startBackendStage(scratch);
    try {
      return await run(stage, scratch);
    } finally {
      await stage.stop();
    }
  } finally {
    remove();
  }
}

/** The gang of the reviews, which Muster has to know, or it would read it for each. */
export async function makeReviewedGang(
  { client }: ControlPlane,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  await client.ok('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const labels = { [LABEL_SCHEDULER_NAME]: 'kai-scheduler', 'kai.scheduler/queue': 'q' };
  await client.ok('POST', `/apis/scheduler.grove.io/v1alpha1/namespaces/${NAMESPACE}/podgangs`, {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name: GANG, labels, annotations },
    spec: { podgroups: [{ name: GROUP, minReplicas: 1000, podReferences: [] }] },
  });
}

/** A backend that does not find its kinds at once looks again only a minute later. */
async function install({ client, kubectl }: ControlPlane): Promise<void> {
  for (const definition of DEFINITIONS) {
    await client.ok('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  }
  const names = DEFINITIONS.map(({ metadata }) => `crd/${metadata.name}`);
  const waited = await kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names]);
  if (waited.code !== 0) throw new Error(waited.stderr);
}
