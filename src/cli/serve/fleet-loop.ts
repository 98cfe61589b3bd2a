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
 * Starts the loop of a fleet on Karmada's API server; undefined where the configuration enables neither assigner nor queues.
 * Nothing waits for its start: a log line and a metric report while it cannot begin.
 * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY for a module's file, which only a person can correct
 */
export async function startFleetLoop(cluster: ClusterFlags, given: Given): Promise<FleetLoop | undefined> {
  const { configuration, plugins, loopMetrics, log, io } = given;
  const { kubeconfig, assigner, queues } = configuration.fleet;
  if (!assigner.enabled && !queues.enabled) return undefined;
  for (const { source } of plugins) await readModule(source);
  const loop = beginWhenPossible(
    async () => {
      const { client } = await clientFor(
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
      await strategies?.stop();
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

/** A running loop of a fleet. */
export interface FleetLoop {
  /** undefined once the first lists have arrived and all controllers have started, else what is missing. */
  check(): string | undefined;
  stop(): Promise<void>;
}

/** Shortest and longest time (ms) between two attempts. */
const AGAIN = { baseMs: 1_000, maxMs: 30_000 };

/**
 * Starts the loop of a fleet as soon as `begin` succeeds, with retries for ever: reviews must not wait for Karmada's API
 * server, which is another one than that of the reviewed cluster.
 * @param begin throws while the loop cannot start
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

/** The endpoints of a fleet that the configuration enables, beside those of the admission reviews. */
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
    // Karmada asks at every change of every workload, so successful answers are logged at debug level only.
    if (refusal === undefined) log.debug(fields, 'interpreted');
    else log.info({ ...fields, reason: refusal }, 'not interpreted');
  });

/** Logs one line for each binding that is held. */
const holding = (log: Logger): WebhookEndpoint =>
  bindingEndpoint(({ uid, namespace, kind, dryRun }, held, name, ms) => {
    if (!held) return;
    const fields = { uid, kind: kind.kind, namespace, name, dryRun, ms: Math.round(ms * 1000) / 1000 };
    log.info(fields, 'a new binding is held');
  });
