import { parseGoDuration } from '../../k8s/time.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { EstimatorSettings } from '../../estimators/estimators.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { HostedPlugins } from '../../modules/hosted-plugins.ts';
import { readModule } from '../../modules/module-file.ts';
import type { ModuleEntry } from '../../modules/supervisor.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import { kindsWith } from '../../workloads/configured-kinds.ts';
import type { ClusterFlags } from '../input/cluster.ts';
import type { CliIo } from '../output/io.ts';
import { beginWhenPossible, type FleetLoop } from './begin-fleet.ts';
import { clientFor, pluginLog } from './serve-loop.ts';

interface Given {
  readonly configuration: Pick<
    OperatorConfiguration,
    'fleet' | 'workloads' | 'leaderElection' | 'runtimeClientConnection'
  >;
  readonly plugins: readonly ModuleEntry[];
  readonly log: Logger;
  readonly loopMetrics: LoopMetrics;
  readonly io: CliIo;
}

/**
 * The loop of a fleet on Karmada's API server; undefined where the configuration asks for nothing there. Nothing of it is
 * waited for: a log line and a metric tell while it cannot begin.
 * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY: the configuration names another file
 */
export async function startFleetLoop(cluster: ClusterFlags, given: Given): Promise<FleetLoop | undefined> {
  const { configuration, plugins, loopMetrics, log, io } = given;
  const { kubeconfig, assigner, queues } = configuration.fleet;
  if (!assigner.enabled && !queues.enabled) return undefined;
  for (const { source } of plugins) await readModule(source);
  const loop = beginWhenPossible(
    async () => {
      const client = await clientFor(
        kubeconfig === undefined ? cluster : { kubeconfig },
        configuration.runtimeClientConnection,
        loopMetrics,
        io,
      );
      return loopOn(client, given).catch(async (thrown: unknown) => {
        await client.close();
        throw thrown;
      });
    },
    (error, retryInMs) =>
      log.error(
        { err: error, retryInMs },
        "the fleet's loop cannot begin, and is tried again; reviews are answered all the same",
      ),
  );
  loopMetrics.fleetFrom(() => loop.check() === undefined);
  return loop;
}

async function loopOn(client: KubeClient, given: Given): Promise<FleetLoop> {
  const { configuration, plugins, loopMetrics, log, io } = given;
  const { assigner, queues, kinds, estimators } = configuration.fleet;
  const { startFleet } = await import('../../controller/fleet.ts');
  const strategies = assigner.enabled ? await HostedPlugins.begin(plugins, pluginLog(log)) : undefined;
  const loop = startFleet({
    client,
    settings: {
      assigner: strategies && {
        schedulerName: assigner.schedulerName,
        strategies,
        estimators: askedAt(estimators),
      },
      queues: queues.enabled
        ? {
            reserveAfterMs: parseGoDuration(queues.reserveAfter) ?? 0,
            kinds: kindsWith([...kinds, ...configuration.workloads]),
          }
        : undefined,
      leaderElection: configuration.leaderElection,
    },
    log,
    metrics: loopMetrics,
    now: () => io.now(),
  });
  return {
    check: () => loop.check(),
    stop: async () => {
      await loop.stop();
      strategies?.stop();
    },
  };
}

function askedAt({
  enabled,
  address,
  timeout,
  tls,
}: OperatorConfiguration['fleet']['estimators']): EstimatorSettings | undefined {
  if (!enabled) return undefined;
  return { address, timeoutMs: parseGoDuration(timeout) ?? 0, tls };
}
