import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestsIn, webhookConfigurations } from '../../support/manifests.ts';
import { startServing, writeCertificates, type Serving } from '../../support/serving.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { applyAll } from './apply.ts';

export const NAMESPACE = 'ml';
export const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
export const GANGS = `/apis/scheduler.grove.io/v1alpha1/namespaces/${NAMESPACE}/podgangs`;

/** The real program, run from its source. */
export const startReplica = (
  certificates: string,
  drain = { seconds: 1, maxSeconds: 20 },
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Serving> => startServing({ certificates, drain, settings });

/** A directory with a certificate that the replicas of one test share. */
export async function certificateDirectory(): Promise<{
  path: string;
  ca: string;
  remove: () => Promise<void>;
}> {
  const path = await mkdtemp(join(tmpdir(), 'muster-certs-'));
  await writeCertificates(path);
  return {
    path,
    ca: await readFile(join(path, 'ca.crt'), 'utf8'),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/**
 * The namespace, the PodGang CRD and the webhook configurations as they ship, pointing at a loopback port. Returns
 * when the API server calls it for Pods and PodGangs both.
 * @param patient whether a webhook that is left out when its answer is late is waited for: on a busy machine two seconds
 * would let pass what the test wants refused
 */
export async function register(
  plane: ControlPlane,
  port: number,
  ca: string,
  patient = false,
): Promise<void> {
  const { client } = plane;
  const definitions = await manifestsIn('crds');
  const configurations = await webhookConfigurations(port, ca);
  for (const webhook of configurations.flatMap(({ webhooks = [] }) => webhooks))
    if (patient && webhook.failurePolicy === 'Ignore') webhook.timeoutSeconds = 30;
  await applyAll(client, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: NAMESPACE } },
    ...definitions,
    ...configurations,
  ]);
  await until('the API server calls Muster for Pods', async () => {
    const { status, body } = await client.request('POST', PODS, gangPod({ name: 'probe' }), DRY_RUN);
    return status === 201 && JSON.stringify(body).includes(GATE);
  });
  await until('the API server calls Muster for PodGangs', async () => {
    const { status } = await client.request(
      'POST',
      GANGS,
      { ...podGang(), spec: { podgroups: [] } },
      DRY_RUN,
    );
    return status === 422;
  });
}

export const DRY_RUN = { query: { dryRun: 'All' } };

export const gangPod = (
  metadata: Record<string, unknown> = { generateName: 'worker-' },
  spec: Record<string, unknown> = {},
  labels: Record<string, string> = {},
): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...metadata,
    labels: { 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker', ...labels },
  },
  spec: { containers: [{ name: 'main', image: 'example/train:1' }], ...spec },
});

export const podGang = (name = 'train'): object => ({
  apiVersion: 'scheduler.grove.io/v1alpha1',
  kind: 'PodGang',
  metadata: { name, namespace: NAMESPACE },
  spec: {
    podgroups: [
      { name: 'leader', minReplicas: 1 },
      { name: 'worker', minReplicas: 2 },
    ],
  },
});

export const GATE = 'grove.io/podgang-pending-creation';

/** As much of a stored Pod as the tests look at. */
export interface StoredPod {
  readonly metadata: {
    readonly name: string;
    readonly labels: Record<string, string>;
    readonly annotations?: Record<string, string>;
    readonly ownerReferences?: readonly { kind: string }[];
  };
  readonly spec: { readonly schedulerName: string; readonly schedulingGates?: readonly { name: string }[] };
}

export const gatesOf = (pod: StoredPod): string[] => (pod.spec.schedulingGates ?? []).map(({ name }) => name);
