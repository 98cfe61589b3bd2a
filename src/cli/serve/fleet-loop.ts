import { parseGoDuration } from '../../k8s/time.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { EstimatorSettings } from '../../estimators/estimators.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { HostedPlugins } from '../../modules/hosted-plugins.ts';
import { readModule } from '../../modules/module-file.ts';
import type { ModuleEntry } from '../../modules/supervisor.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import { kindsWith, type ConfiguredKind } from '../../workloads/configured-kinds.ts';
import type { ClusterFlags } from '../input/shared-options.ts';
import type { CliIo } from '../output/io.ts';
import { clientFor, pluginLog } from './serve-loop.ts';
import { messageOf } from '../../errors.ts';
import { sleep, systemClock, type Clock, type UniformRandom } from '../../kube/client/clock.ts';
import { halfJitter } from '../../kube/loop/backoff.ts';
import { bindingEndpoint } from '../../admission/bindings.ts';
import { interpreterEndpoint } from '../../fleet/interpreter-endpoint.ts';
import type { WebhookEndpoint } from '../../api/webhook-endpoint.ts';

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

/** A loop that runs. */
export interface FleetLoop {
  /** undefined once it knows what it works with, else what is missing. */
  check(): string | undefined;
  stop(): Promise<void>;
}

/** Between two attempts at most (ms). */
const AGAIN = { baseMs: 1_000, maxMs: 30_000 };

/**
 * Begins the loop of a fleet as soon as it can be begun, however long that takes: Karmada's API server is another than that
 * of the cluster whose Pods are reviewed, and whoever waits for it must not keep reviews waiting.
 * @param begin throws while there is something in its way
 */
export function beginWhenPossible(
  begin: () => Promise<FleetLoop>,
  failed: (error: unknown, retryInMs: number) => void,
  clock: Clock = systemClock,
  random: UniformRandom = Math.random,
): FleetLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  let loop: FleetLoop | undefined;
  let missing = 'it has not begun yet';
  const begun = async (): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        loop = await begin();
        return;
      } catch (error) {
        missing = messageOf(error);
        if (signal.aborted) return;
        const retryInMs = Math.round(halfJitter(attempt, AGAIN, random));
        failed(error, retryInMs);
        await sleep(clock, retryInMs, signal).catch(() => undefined);
      }
    }
  };
  const beginning = begun();
  return {
    check: () => (loop === undefined ? missing : loop.check()),
    stop: async () => {
      stopping.abort(new Error('the program is ending'));
      await beginning;
      await loop?.stop();
    },
  };
}

/** The paths beside those of the admission reviews, as far as the configuration asks for them. */
export function fleetEndpoints(
  { fleet, workloads }: Pick<OperatorConfiguration, 'fleet' | 'workloads'>,
  log: Logger,
): WebhookEndpoint[] {
  return [
    ...(fleet.interpreter ? [interpreter([...fleet.kinds, ...workloads], log)] : []),
    ...(fleet.queues.enabled ? [holding(log)] : []),
  ];
}

const interpreter = (kinds: readonly ConfiguredKind[], log: Logger): WebhookEndpoint =>
  interpreterEndpoint(kindsWith(kinds), (request, refusal, ms) => {
    const { uid, operation, kind, namespace, name } = request;
    const fields = { uid, operation, kind, namespace, name, ms: Math.round(ms * 1000) / 1000 };
    // Karmada asks again with every change of every workload: what is in order is for those who look for something.
    if (refusal === undefined) log.debug(fields, 'interpreted');
    else log.info({ ...fields, reason: refusal }, 'not interpreted');
  });

/** Of each binding that is held one line; the others are nobody's business. */
const holding = (log: Logger): WebhookEndpoint =>
  bindingEndpoint(({ uid, namespace, kind, dryRun }, held, name, ms) => {
    if (!held) return;
    const fields = { uid, kind: kind.kind, namespace, name, dryRun, ms: Math.round(ms * 1000) / 1000 };
    log.info(fields, 'a new binding is held');
  });
