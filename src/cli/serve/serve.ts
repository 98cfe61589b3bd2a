import closeWithGrace from 'close-with-grace';
import { Command } from 'commander';
import { MUSTER_NAMESPACE, MUSTER_SERVICE_ACCOUNT } from '../../api/names.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import { builtInBackends } from '../../backends/registry.ts';
import { hostedPreparations } from '../../modules/module-preparation.ts';
import { hostedModules } from '../../modules/module-backend.ts';
import { messageOf, MusterError } from '../../errors.ts';
import { metricsOf, startProgram, type ServerProgram } from '../../server/program.ts';
import { LogCounts } from '../../telemetry/failure-lines.ts';
import { createLogger, flushLog, type Logger } from '../../telemetry/log.ts';
import { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import { verbConfiguration, type VerbConfiguration } from '../input/configured.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { policyFrom } from '../input/policy.ts';
import { Begun } from './begun.ts';
import { startFleetLoop, fleetEndpoints } from './fleet-loop.ts';
import { keepCertificates } from './keep-certificates.ts';
import { saveMemoryAtRest } from './memory-at-rest.ts';
import { initWithoutCluster, moduleLog, preparationLog, startForecasts, startLoop } from './serve-loop.ts';
import { buildStamp, musterVersion } from '../version.ts';

interface ServeFlags {
  config?: string;
  certDir?: string;
  port?: string;
  healthPort?: string;
  metricsPort?: string;
  controller: boolean;
  kubeconfig?: string;
  context?: string;
  serverName?: string;
}

const EXAMPLE = `
Example:
  $ muster certs --out certs/out --dns localhost
  $ muster serve --no-controller --cert-dir certs/out

On SIGTERM it turns unready, goes on answering, asks every connection to end with its next answer, and ends when none
is left (server.webhooks.drain). The loop ends at the signal: another replica takes over. A second signal ends it at once.`;

/** `muster serve`: runs the HTTPS server until a signal. */
export const serveCommand = (io: CliIo): Command =>
  new Command('serve')
    .description('answer admission reviews over HTTPS')
    .option('--config <file>', 'OperatorConfiguration, YAML or JSON (default: $MUSTER_CONFIG)')
    .option('--cert-dir <dir>', 'directory with tls.crt and tls.key, reread when they change')
    .option('--port <number>', 'port of the webhooks')
    .option('--health-port <number>', 'port of /healthz and /readyz')
    .option('--metrics-port <number>', 'port of /metrics')
    .option('--server-name <name>', 'name the certificate must be for (default: muster.$POD_NAMESPACE.svc)')
    .option('--kubeconfig <file>', 'how to reach the cluster (default: the Pod’s own account)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--no-controller', 'admission only: needs no cluster')
    .addHelpText('after', EXAMPLE)
    .action((flags: ServeFlags) => serve(flags, io));

async function serve(flags: ServeFlags, io: CliIo): Promise<void> {
  const { configuration, warnings, modules, plugins, preparations } = verbConfiguration({
    file: flags.config,
    env: io.env,
    flags: definedOnly({
      'server.webhooks.serverCertDir': flags.certDir,
      'server.webhooks.port': flags.port,
      'server.healthProbes.port': flags.healthPort,
      'server.metrics.port': flags.metricsPort,
    }),
  });
  const counts = new LogCounts();
  const log = createLogger({ level: configuration.logLevel, format: configuration.logFormat, counts });
  for (const warning of warnings) log.warn({ path: warning.path, line: warning.line }, warning.message);
  try {
    await serveWith(configuration, { modules, plugins, preparations }, { flags, log, counts, io });
  } catch (thrown) {
    // A reader of JSON log lines finds the error in the log as well.
    if (configuration.logFormat !== 'json' || io.isTerminal) throw thrown;
    const known = thrown instanceof MusterError ? { code: thrown.code, fix: thrown.fix } : { err: thrown };
    log.error(known, messageOf(thrown));
    await flushLog(log);
    throw new ExitStatus(thrown instanceof MusterError ? thrown.exitCode : 1);
  }
}

interface Given {
  readonly flags: ServeFlags;
  readonly log: Logger;
  readonly counts: LogCounts;
  readonly io: CliIo;
}
type Hosted = Pick<VerbConfiguration, 'modules' | 'plugins' | 'preparations'>;

async function serveWith(configuration: OperatorConfiguration, hosted: Hosted, given: Given): Promise<void> {
  const { log } = given;
  const begun = new Begun((failure) => log.error({ err: failure }, messageOf(failure)));
  const program = await begun.orEnd(() => beginAll(configuration, hosted, given, begun));
  await new Promise<void>((resolve) => {
    const delay = (configuration.server.webhooks.drain.maxSeconds + 10) * 1000;
    // closeWithGrace exits the process after this function, at once on a second signal, and with 1 after an error.
    closeWithGrace({ delay, logger: false }, async ({ err, signal }) => {
      if (err) log.error({ err }, 'ending after an unexpected error');
      else log.info({ signal }, 'ending');
      try {
        // Gangs that are admitted during the drain are released by another replica, or by the next process.
        begun.endsTogether(() => (err ? program.close() : program.drain()));
        await begun.end();
        resolve();
      } finally {
        await flushLog(log);
      }
    });
  });
}

/** Starts everything, and names to `begun` whatever has to end. */
async function beginAll(
  configuration: OperatorConfiguration,
  { modules, plugins, preparations: entries }: Hosted,
  { flags, log, counts, io }: Given,
  begun: Begun,
): Promise<ServerProgram> {
  const ownNamespace = io.env['POD_NAMESPACE'];
  begun.endsLast(saveMemoryAtRest());
  const preparations = await hostedPreparations(entries, preparationLog(log));
  for (const { hosted } of preparations) begun.endsLast(() => hosted.stop());
  const policy = policyFrom(configuration, {
    factories: [...builtInBackends, ...(await hostedModules(modules, moduleLog(log)))],
    preparations,
    ownNamespace: ownNamespace ?? MUSTER_NAMESPACE,
  });
  for (const { hosted } of policy.registry.hosted) begun.endsLast(() => hosted.stop());
  for (const notice of policy.registry.notices) log.warn(notice);
  const build = { version: musterVersion(), ...buildStamp() };
  const metrics = metricsOf(build, counts);
  metrics.backends.enabled(policy.registry.enabled, policy.registry.default.name);
  const loopMetrics = flags.controller ? new LoopMetrics() : undefined;
  const serverName =
    flags.serverName ??
    (ownNamespace === undefined ? undefined : `${MUSTER_SERVICE_ACCOUNT}.${ownNamespace}.svc`);
  const rotator = await keepCertificates(flags, { configuration, serverName, metrics, log, io });
  begun.endsLast(() => rotator?.stop());
  const loop =
    loopMetrics &&
    (await startLoop(flags, {
      configuration,
      registry: policy.registry,
      preparations,
      log,
      metrics,
      loopMetrics,
      io,
    }));
  begun.endsTogether(() => loop?.stop());
  const fleet =
    loopMetrics && (await startFleetLoop(flags, { configuration, plugins, log, loopMetrics, io }));
  begun.endsTogether(() => fleet?.stop());
  if (loop === undefined)
    begun.endsTogether(await initWithoutCluster(policy.registry, log, metrics.backends));
  const forecasts = loop && (await startForecasts(configuration, flags, log));
  begun.endsLast(() => forecasts?.stop());
  return startProgram({
    configuration,
    policy: {
      ...policy,
      knowsCallers: configuration.server.webhooks.clientCertificate !== undefined,
      ...(loop && {
        placement: loop.placement,
        classes: loop.classes,
        hpc: loop.hpc,
        notReady: (backend: string) => policy.registry.unseen(backend),
      }),
      ...(forecasts && { preview: (tried, withinMs) => forecasts.ask(tried, withinMs) }),
    },
    metrics,
    log,
    endpoints: fleetEndpoints(configuration, log),
    build,
    now: () => io.now(),
    ...(serverName === undefined ? {} : { serverName }),
    ...(rotator && { certificates: (events) => rotator.announceTo(events) }),
    ...(loopMetrics === undefined ? {} : { moreMetrics: () => loopMetrics.expose() }),
    // The fleet's loop is not checked here: reviews are answered without it.
    checks: loop === undefined ? [] : [{ name: 'loop-caches', check: () => loop.check() }],
  });
}

const definedOnly = (flags: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(flags).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
