import { isDeepStrictEqual } from 'node:util';
import { parseGoDuration } from '../../k8s/time.ts';
import { MUSTER_NAMESPACE } from '../../api/names.ts';
import { printable } from '../../text/printable.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { Loop } from '../../controller/controller.ts';
import type { PreemptionSettings } from '../../controller/watch/shared.ts';
import { ProbeLoop } from '../../controller/scheduler-objects/probe-loop.ts';
import type { ModuleObserver } from '../../modules/supervisor.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { CallWindow } from '../../kube/loop/call-window.ts';
import type { PreparerFactory } from '../../preparers/preparer-factory.ts';
import type { BackendMetrics } from '../../telemetry/backend-metrics.ts';
import type { Forecasts } from '../../preview/forecasts.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { gangKindsWith } from '../../workloads/configured-gangs.ts';
import { connect, type ClusterFlags } from '../input/shared-options.ts';
import { neverEvictedFrom } from '../input/policy.ts';
import type { CliIo } from '../output/io.ts';

/** Starts the loop on the cluster, which has to answer now; if the cluster goes away later, the loop waits for it. */
export async function startLoop(
  cluster: ClusterFlags,
  given: {
    configuration: Pick<
      OperatorConfiguration,
      'controllers' | 'leaderElection' | 'runtimeClientConnection' | 'preemption' | 'hpc' | 'workloads'
    >;
    registry: BackendRegistry;
    preparations: readonly PreparerFactory[];
    metrics: Metrics;
    log: Logger;
    loopMetrics: LoopMetrics;
    io: CliIo;
  },
): Promise<Loop> {
  const { configuration, registry, preparations, metrics, loopMetrics, log, io } = given;
  const { client, window } = await clientFor(cluster, configuration.runtimeClientConnection, loopMetrics, io);
  loopMetrics.callsFrom(window);
  const { startControllers } = await import('../../controller/controller.ts');
  return startControllers({
    client,
    registry,
    settings: {
      concurrentSyncs: () => Math.min(window.limit, configuration.controllers.podGang.concurrentSyncs),
      selectors: configuration.controllers.podGang,
      gangKinds: gangKindsWith(configuration.workloads),
      leaderElection: configuration.leaderElection,
      hpc: configuration.hpc.enabled,
      preparations,
      preemption: actingOn(configuration.preemption, io.env['POD_NAMESPACE']),
    },
    backendMetrics: metrics.backends,
    log,
    metrics: loopMetrics,
    now: () => io.now(),
    // Outside of a cluster: the one namespace that every cluster has.
    ownNamespace: io.env['POD_NAMESPACE'] ?? 'default',
  });
}

/** A client with the configured rate limit, a window of calls and metrics. @throws where the API server does not answer */
export async function clientFor(
  cluster: ClusterFlags,
  { qps, burst }: OperatorConfiguration['runtimeClientConnection'],
  loopMetrics: LoopMetrics,
  io: CliIo,
): Promise<{ readonly client: KubeClient; readonly window: CallWindow }> {
  const { TokenBucket } = await import('../../kube/client/token-bucket.ts');
  const { CallWindow, MOST_CALLS } = await import('../../kube/loop/call-window.ts');
  const window = new CallWindow();
  const { client } = await connect(cluster, io, {
    limit: qps > 0 ? new TokenBucket({ qps, burst, waited: (ms) => loopMetrics.throttled(ms) }) : undefined,
    window,
    // A call that waits for none, such as the renewal of a Lease, finds a connection besides.
    connections: MOST_CALLS + 16,
    observer: {
      answered: (verb, status, ms) => {
        window.answered(verb, status, ms);
        loopMetrics.requested(verb, status, ms);
      },
    },
  });
  return { client, window };
}

/** Settings of preemption; undefined where it is off. Muster never evicts its own Pods. */
function actingOn(
  preemption: OperatorConfiguration['preemption'],
  ownNamespace = MUSTER_NAMESPACE,
): PreemptionSettings | undefined {
  const { mode, after, profiles, overridePodDisruptionBudgets, limits } = preemption;
  if (mode === 'Off') return undefined;
  return {
    profiles,
    afterMs: parseGoDuration(after) ?? 0,
    overridePodDisruptionBudgets,
    limits,
    exemptNamespaces: neverEvictedFrom({ preemption }, ownNamespace),
  };
}

/**
 * Starts the forecasts of preemption that answer dry runs; undefined where they are disabled. Loads their code only if
 * enabled.
 */
export async function startForecasts(
  { preemption, server }: Pick<OperatorConfiguration, 'preemption' | 'server'>,
  { kubeconfig, context }: ClusterFlags,
  log: Logger,
): Promise<Forecasts | undefined> {
  if (!preemption.preview) return undefined;
  const { Forecasts } = await import('../../preview/forecasts.ts');
  // Without a client certificate anybody who reaches the port may send a dry run under any user's name.
  const known = server.webhooks.clientCertificate !== undefined;
  if (!known) log.info('forecasts name nobody: server.webhooks.clientCertificate is not set');
  const names = known ? preemption.previewNames : 'None';
  const exemptNamespaces = neverEvictedFrom({ preemption });
  return new Forecasts({ setting: { kubeconfig, context, names, exemptNamespaces }, log });
}

/**
 * Initializes the backends by their configuration alone, without a cluster, and logs the outcome. They are probed again,
 * since a module's process may end and restart.
 * @returns a function that stops the probes
 */
export async function initWithoutCluster(
  registry: BackendRegistry,
  log: Logger,
  metrics: Pick<BackendMetrics, 'initialized'>,
): Promise<() => Promise<void>> {
  const probes = new ProbeLoop({
    registry,
    cluster: () => undefined,
    probed: (backend, now, before, seconds) => {
      const version = now.state === 'ready' ? now.facts.version : undefined;
      metrics.initialized(backend, now.state === 'ready', seconds, version);
      if (isDeepStrictEqual(now, before)) return;
      if (now.state === 'failed') log.error({ backend, reason: now.reason }, 'backend not ready');
      else if (now.state === 'ready') log.info({ backend, ...now.facts }, 'backend initialized');
    },
  });
  for (const { name, hosted } of registry.hosted) {
    hosted.subscribe({ ended: () => probes.soon(name), said: () => undefined });
  }
  await probes.start();
  return () => probes.stop();
}

/** Logs the output and the end of backend modules. */
export const moduleLog = (log: Logger): ModuleObserver => ({
  wrote: (backend, text) => log.info({ backend, text: printable(text, 2_048) }, 'a backend module wrote'),
  ended: (backend, reason, againInMs) =>
    log.error({ backend, reason, againInMs }, 'a backend module has ended, and its gangs wait'),
});

/** Logs the output and the end of strategy modules. */
export const pluginLog = (log: Logger): ModuleObserver => ({
  wrote: (plugin, text) => log.info({ plugin, text: printable(text, 2_048) }, 'a strategy module wrote'),
  ended: (plugin, reason, againInMs) =>
    log.error({ plugin, reason, againInMs }, 'a strategy module has ended, and its bindings wait'),
  noticed: (plugin, notice) => log.warn({ plugin }, printable(notice, 512)),
});

/** Logs the output and the end of preparation modules. */
export const preparationLog = (log: Logger): ModuleObserver => ({
  wrote: (preparation, text) =>
    log.info({ preparation, text: printable(text, 2_048) }, 'a preparation module wrote'),
  ended: (preparation, reason, againInMs) =>
    log.error({ preparation, reason, againInMs }, 'a preparation module has ended, and its gangs wait'),
  noticed: (preparation, notice) => log.warn({ preparation }, printable(notice, 512)),
});
