import { join } from 'node:path';
import { MUSTER_NAMESPACE, MUSTER_USER } from '../../../src/api/names.ts';
import { manifestsIn } from '../../../demo/registration.ts';
import { packageRoot } from '../../../src/cli/input/package-root.ts';
import { startServing, type Serving } from '../../../demo/serving.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';

/** What the loop needs before it starts: the PodGang definition, its account and its rights, as they ship. */
export async function grantRights({ kubectl }: ControlPlane): Promise<void> {
  const rights = (await manifestsIn('base')).filter(({ kind }) =>
    /^(Namespace|ServiceAccount|.*Role|.*RoleBinding)$/.test(kind),
  );
  const stdin = [...(await manifestsIn('crds')), ...rights]
    .map((object) => JSON.stringify(object))
    .join('\n---\n');
  const applied = await kubectl(['apply', '-f', '-'], { stdin });
  if (applied.code !== 0) throw new Error(applied.stderr);
  const wait = await kubectl([
    'wait',
    '--for=condition=Established',
    '--timeout=30s',
    'crd/podgangs.scheduler.grove.io',
  ]);
  if (wait.code !== 0) throw new Error(wait.stderr);
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
): Promise<Serving> =>
  startServing({
    now: new Date(),
    main: join(packageRoot() ?? '', 'src', 'main.ts'),
    certificates,
    drain: { seconds: 0, maxSeconds: 5 },
    kubeconfig: kubeconfig ?? (await plane.kubeconfigFor(MUSTER_USER)),
    settings: { leaderElection: SHORT_LEASE, ...settings },
  });

/** Fail-over within seconds, so that a test need not wait for the usual 15. */
export const SHORT_LEASE = {
  leaseDuration: '3s',
  renewDeadline: '2s',
  retryPeriod: '500ms',
  resourceNamespace: MUSTER_NAMESPACE,
};
