import { MUSTER_NAMESPACE } from '../../api/names.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { CertificateRotator } from '../../controller/certificates/certificate-rotator.ts';
import { MusterError } from '../../errors.ts';
import { parseGoDuration } from '../../k8s/time.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { CertificateTimes } from '../../tls/in-cluster/state.ts';
import type { ClusterFlags } from '../input/shared-options.ts';
import type { CliIo } from '../output/io.ts';

/**
 * Starts to keep the certificates in the cluster, where the configuration says so. The API server need not answer yet.
 * @param serverName the name that API servers call
 * @throws MusterError CONFIG_INVALID without that name, CLUSTER_UNREACHABLE without a kubeconfig
 */
export async function keepCertificates(
  cluster: ClusterFlags,
  given: {
    readonly configuration: Pick<OperatorConfiguration, 'server'>;
    readonly serverName: string | undefined;
    readonly metrics: Metrics;
    readonly log: Logger;
    readonly io: CliIo;
  },
): Promise<CertificateRotator | undefined> {
  const { configuration, serverName, metrics, log, io } = given;
  const { mode, secretName, leaf, ca } = configuration.server.certificates;
  if (mode === 'files') return undefined;
  if (serverName === undefined) {
    throw new MusterError(
      'CONFIG_INVALID',
      'server.certificates.mode inCluster: nobody says by which name API servers call this server',
      'set POD_NAMESPACE, as manifests/base does, or name it with --server-name',
    );
  }
  const { findConnection } = await import('../../kube/client/find-connection.ts');
  const { createKubeClient } = await import('../../kube/client/http-client.ts');
  const { CertificateRotator: Rotator } =
    await import('../../controller/certificates/certificate-rotator.ts');
  const { kubeconfig, context } = cluster;
  return new Rotator({
    client: createKubeClient(await findConnection({ kubeconfig, context, env: io.env })),
    secret: { namespace: io.env['POD_NAMESPACE'] ?? MUSTER_NAMESPACE, name: secretName },
    serverName,
    times: { leaf: timesOf(leaf), ca: timesOf(ca), settleMs: parseGoDuration(ca.settle) ?? 0 },
    log,
    covers: (covers) => metrics.coversLeaf(covers),
  }).run();
}

/** Without `renewBefore` a certificate is renewed after two thirds of its life. */
function timesOf(given: {
  readonly duration: string;
  readonly renewBefore?: string | undefined;
}): CertificateTimes['leaf'] {
  const durationMs = parseGoDuration(given.duration) ?? 0;
  const { renewBefore } = given;
  const before = renewBefore === undefined ? undefined : parseGoDuration(renewBefore);
  return { durationMs, renewBeforeMs: before ?? durationMs / 3 };
}
