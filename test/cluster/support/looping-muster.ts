import { MUSTER_NAMESPACE, MUSTER_USER } from '../../../src/api/names.ts';
import { accountManifests, manifestsIn } from '../../support/manifests.ts';
import { startServing, type Serving } from '../../support/serving.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { applyAll, untilEstablished } from './apply.ts';

/**
 * What the loop needs before it starts: its definitions, its account and its rights, as they ship.
 * @param backends whose components are taken; default: all
 */
export async function grantRights({ client }: ControlPlane, backends?: readonly string[]): Promise<void> {
  const definitions = await manifestsIn('crds');
  await applyAll(client, [...definitions, ...(await accountManifests(backends))]);
  await untilEstablished(client, definitions);
}

/**
 * The real program with its loop, with the rights of its own account and no others.
 * @param kubeconfig how it reaches the API server, where that is not directly
 */
export const startLoopingReplica = async (
  plane: ControlPlane,
  certificates: string,
  settings: Readonly<Record<string, unknown>> = {},
  kubeconfig?: string,
  node?: readonly string[],
): Promise<Serving> =>
  startServing({
    certificates,
    ...(node && { node }),
    drain: { seconds: 0, maxSeconds: 5 },
    kubeconfig: kubeconfig ?? (await plane.kubeconfigFor(MUSTER_USER)),
    settings: { leaderElection: STEADY_LEASE, ...settings },
  });

/** Where fail-over is not the subject: nobody else is to lead because a busy machine made the leader renew late. */
export const STEADY_LEASE = {
  leaseDuration: '8s',
  renewDeadline: '6s',
  retryPeriod: '500ms',
  resourceNamespace: MUSTER_NAMESPACE,
};

/** Fail-over within seconds, where a test kills one leader after the other; on a busy machine it comes unasked, too. */
export const SHORT_LEASE = {
  leaseDuration: '3s',
  renewDeadline: '2s',
  retryPeriod: '500ms',
  resourceNamespace: MUSTER_NAMESPACE,
};
