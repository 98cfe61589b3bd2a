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

/** Starts the loop on the cluster, which has to be there now; should it go away later, the loop waits for it. */
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
  const client = await clientFor(cluster, configuration.runtimeClientConnection, loopMetrics, io);
  const { startControllers } = await import('../../controller/controller.ts');
  return startControllers({
    client,
    registry,
    settings: {
      concurrentSyncs: configuration.controllers.podGang.concurrentSyncs,
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
    // Elsewhere than in a cluster there is one namespace that is sure to exist.
    ownNamespace: io.env['POD_NAMESPACE'] ?? 'default',
  });
}

/** A client of the configured pace whose requests are counted. @throws where the API server does not answer */
export async function clientFor(
  cluster: ClusterFlags,
  { qps, burst }: OperatorConfiguration['runtimeClientConnection'],
  loopMetrics: LoopMetrics,
  io: CliIo,
): Promise<KubeClient> {
  const { TokenBucket } = await import('../../kube/client/token-bucket.ts');
  const { client } = await connect(cluster, io, {
    limit: qps > 0 ? new TokenBucket({ qps, burst, waited: (ms) => loopMetrics.throttled(ms) }) : undefined,
    observer: { answered: (verb, status) => loopMetrics.requested(verb, status) },
  });
  return client;
}

/** What is to be done to make room for gangs; undefined where nothing is. Muster never evicts its own Pods. */
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

/** What answers dry runs with a forecast; undefined where it is not asked for. Loaded only there. */
export async function startForecasts(
  { preemption, server }: Pick<OperatorConfiguration, 'preemption' | 'server'>,
  { kubeconfig, context }: ClusterFlags,
  log: Logger,
): Promise<Forecasts | undefined> {
  if (!preemption.preview) return undefined;
  const { Forecasts } = await import('../../preview/forecasts.ts');
  // Anybody who reaches the port may ask for a dry run in the name of anybody.
  const known = server.webhooks.clientCertificate !== undefined;
  if (!known) log.info('forecasts name nobody: server.webhooks.clientCertificate is not set');
  const names = known ? preemption.previewNames : 'None';
  const exemptNamespaces = neverEvictedFrom({ preemption });
  return new Forecasts({ setting: { kubeconfig, context, names, exemptNamespaces }, log });
}

/**
 * Without a cluster the backends go by their configuration alone; what follows from that is told. They are asked again, as
 * one that runs elsewhere may end and begin anew.
 * @returns what ends that
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

/** What modules write, and that they ended, in Muster's log. */
export const moduleLog = (log: Logger): ModuleObserver => ({
  wrote: (backend, text) => log.info({ backend, text: printable(text, 2_048) }, 'a backend module wrote'),
  ended: (backend, reason, againInMs) =>
    log.error({ backend, reason, againInMs }, 'a backend module has ended, and its gangs wait'),
});

/** The same of modules with strategies. */
export const pluginLog = (log: Logger): ModuleObserver => ({
  wrote: (plugin, text) => log.info({ plugin, text: printable(text, 2_048) }, 'a strategy module wrote'),
  ended: (plugin, reason, againInMs) =>
    log.error({ plugin, reason, againInMs }, 'a strategy module has ended, and its bindings wait'),
  noticed: (plugin, notice) => log.warn({ plugin }, printable(notice, 512)),
});

/** The same of modules that prepare Pods for an HPCPolicy. */
export const preparationLog = (log: Logger): ModuleObserver => ({
  wrote: (preparation, text) =>
    log.info({ preparation, text: printable(text, 2_048) }, 'a preparation module wrote'),
  ended: (preparation, reason, againInMs) =>
    log.error({ preparation, reason, againInMs }, 'a preparation module has ended, and its gangs wait'),
  noticed: (preparation, notice) => log.warn({ preparation }, printable(notice, 512)),
});

/**
 * Ends everything side by side, so that nothing waits for what has nothing to do with it: the loop's Lease is given up
 * while reviews are still drained. One that fails keeps no other from its end, and each failure is told.
 * @throws the first failure, once everything has ended or failed
 */
export async function endTogether(
  ends: readonly (() => Promise<void> | undefined)[],
  failed: (error: unknown) => void,
): Promise<void> {
  const ended = await Promise.allSettled(ends.map(async (end) => end()));
  const failures = ended.flatMap((end) =>
    end.status === 'rejected' ? [{ error: end.reason as unknown }] : [],
  );
  for (const { error } of failures) failed(error);
  const [first] = failures;
  if (first !== undefined) throw first.error;
}
