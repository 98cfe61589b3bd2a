import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Policy } from '../admission/policy.ts';
import { admissionWebhooks, admissionEndpoints } from '../admission/endpoints.ts';
import type { OperatorConfiguration } from '../config/configuration.ts';
import { messageOf, MusterError } from '../errors.ts';
import type { LogCounts } from '../telemetry/failure-lines.ts';
import { reviewObserver, type Logger } from '../telemetry/log.ts';
import { type Build, Metrics } from '../telemetry/metrics.ts';
import type { TlsChoices } from '../tls/options.ts';
import { CertificateReloader, type ReloadResult, type ServingPair } from '../tls/reload.ts';
import { WebhookServer, type WebhookServerOptions } from './webhook-server.ts';
import type { WebhookEndpoint } from '../api/webhook-endpoint.ts';
import { listenOn, metricsServer, probeServer, callSelf, type ReadinessCheck } from './probes.ts';

/** Where the serving certificate comes from, and how it changes. */
export interface CertificateSource {
  /** @returns the first pair, once there is one */
  start(): Promise<ServingPair>;
  readonly current: ServingPair;
  /** Why clients refuse the pair in service, or that there is none; undefined when all is well. */
  notReady(): string | undefined;
  stop(): Promise<void>;
}

/** What a source of certificates calls. */
export interface CertificateEvents {
  /** Puts a further pair into service. */
  onSwap(pair: ServingPair): void;
  onResult(result: ReloadResult): void;
}

export interface ProgramOptions {
  readonly configuration: Pick<OperatorConfiguration, 'server' | 'schedulers' | 'logDecisionsPerSecond'>;
  readonly policy: Policy;
  readonly log: Logger;
  /** Further endpoints besides those of the reviews, of any protocol. */
  readonly endpoints?: readonly WebhookEndpoint[];
  readonly build: Build & { readonly date?: string };
  readonly now: () => Date;
  /** The metrics to count in, where others count as well; absent: metrics of its own. */
  readonly metrics?: Metrics;
  /** Makes the source of the certificate; absent: `server.webhooks.serverCertDir`. */
  readonly certificates?: (events: CertificateEvents) => CertificateSource;
  /** Name that the certificate must be for; undefined: any. */
  readonly serverName?: string;
  /** Further conditions for this replica to receive reviews. */
  readonly checks?: readonly ReadinessCheck[];
  /** Further metrics, in the text format of Prometheus. */
  readonly moreMetrics?: () => Promise<string>;
  /** For tests: see {@link WebhookServerOptions}. */
  readonly overrides?: Partial<Pick<WebhookServerOptions, 'beforeDecision' | 'times'>>;
  readonly pollIntervalMs?: number;
}

/** Everything that serves, on three ports: webhooks over TLS, probes and metrics over plain HTTP. */
export interface ServerProgram {
  readonly ports: { readonly webhooks: number; readonly health: number; readonly metrics: number };
  readonly metrics: Metrics;
  readonly server: WebhookServer;
  readonly certificates: CertificateSource;
  /** Turns unready at once, answers all requests, and ends. */
  drain(): Promise<void>;
  /** Ends at once. */
  close(): Promise<void>;
}

/** Creates the metrics of a program of this build and with this log. */
export const metricsOf = (build: Build, logCounts?: LogCounts): Metrics =>
  new Metrics(
    build,
    admissionWebhooks.map((endpoint) => endpoint.path),
    logCounts,
  );

/**
 * Returns the address to listen on. An empty one in the configuration means every address, IPv4 and IPv6 where the node has
 * it.
 */
function addressOf(bindAddress: string): string {
  if (bindAddress !== '') return bindAddress;
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((address) => address?.family === 'IPv6') ? '::' : '0.0.0.0';
}

/**
 * Starts to serve. The port of the webhooks is opened once the certificate is loaded and the backends are initialised, so every
 * request that gets through is answered.
 * @throws MusterError TLS_*, BACKEND_INIT_FAILED, LISTEN_FAILED; nothing is left running then
 */
export async function startProgram(options: ProgramOptions): Promise<ServerProgram> {
  const { configuration, policy, log, build } = options;
  const { webhooks, healthProbes, metrics: metricsSettings } = configuration.server;
  const { metrics = metricsOf(build) } = options;
  const tls = tlsChoicesOf(webhooks);
  let serving: { readonly server: WebhookServer; readonly port: number } | undefined;
  const events: CertificateEvents = {
    onSwap: (pair) => {
      serving?.server.swap(pair);
      metrics.certificateEnds(pair.notAfter);
    },
    onResult: (result) => metrics.reloaded(result),
  };
  const certificates: CertificateSource =
    options.certificates?.(events) ??
    new CertificateReloader({
      directory: webhooks.serverCertDir,
      ...(options.serverName === undefined ? {} : { serverName: options.serverName }),
      ...(options.pollIntervalMs === undefined ? {} : { pollIntervalMs: options.pollIntervalMs }),
      now: options.now,
      ...events,
      log,
    });
  const stopping: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of stopping.splice(0).reverse()) await end();
  };
  try {
    stopping.push(() => certificates.stop());
    // Both before the certificate: what it waits for is told by readiness and by metrics.
    const probes = probeServer([
      {
        name: 'not-draining',
        check: () => (serving?.server.connections.draining === true ? 'this replica is ending' : undefined),
      },
      {
        name: 'certificate',
        check: () => certificates.notReady(),
      },
      {
        name: 'tls-self-call',
        check: () =>
          serving === undefined
            ? 'the port of the webhooks is not open yet'
            : callSelf(serving.port, webhooks.bindAddress, {
                fingerprint256: certificates.current.fingerprint256,
                clientCertificate: tls.clientCa !== undefined,
              }),
      },
      ...(options.checks ?? []),
    ]);
    stopping.push(() => probes.close());
    const health = await listenOn(
      probes,
      addressOf(healthProbes.bindAddress),
      healthProbes.port,
      '--health-port',
    );
    const exposition = metricsServer(async () => {
      const { contentType, body } = await metrics.expose();
      return { contentType, body: body + ((await options.moreMetrics?.()) ?? '') };
    });
    stopping.push(() => exposition.close());
    const metricsPort = await listenOn(
      exposition,
      addressOf(metricsSettings.bindAddress),
      metricsSettings.port,
      '--metrics-port',
    );

    const pair = await certificates.start();
    metrics.certificateEnds(pair.notAfter);

    const webhookServer = new WebhookServer({
      host: addressOf(webhooks.bindAddress),
      port: webhooks.port,
      pair: certificates.current,
      tls,
      ...(webhooks.clientCertificate && { allowedClientNames: webhooks.clientCertificate.allowedNames }),
      limits: webhooks.limits,
      endpoints: [
        ...admissionEndpoints(policy, reviewObserver(metrics, log, configuration.logDecisionsPerSecond)),
        ...(options.endpoints ?? []),
      ],
      metrics,
      log,
      ...options.overrides,
    });
    const webhooksPort = await webhookServer.listen();
    stopping.push(() => webhookServer.close());
    serving = { server: webhookServer, port: webhooksPort };
    // It may have changed while the port was opened.
    if (certificates.current !== pair) webhookServer.swap(certificates.current);

    const ports = { webhooks: webhooksPort, health, metrics: metricsPort };
    log.info(
      {
        version: build.version,
        commit: build.commit,
        commitDate: build.date,
        ...ports,
        backends: policy.registry.enabled,
        default: policy.registry.default.name,
      },
      'serving',
    );
    return {
      ports,
      metrics,
      server: webhookServer,
      certificates,
      drain: async () => {
        const { seconds, maxSeconds } = webhooks.drain;
        log.info({ connections: webhookServer.connections.size, seconds, maxSeconds }, 'draining');
        await webhookServer.drain({ minMs: seconds * 1000, maxMs: maxSeconds * 1000 });
        await stop();
        log.info('drained');
      },
      close: stop,
    };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

function tlsChoicesOf(webhooks: OperatorConfiguration['server']['webhooks']): TlsChoices {
  const minVersion = webhooks.tlsMinVersion === '1.2' ? 'TLSv1.2' : 'TLSv1.3';
  const { clientCertificate } = webhooks;
  if (clientCertificate === undefined) return { minVersion };
  try {
    return { minVersion, clientCa: readFileSync(clientCertificate.caFile) };
  } catch (thrown) {
    throw new MusterError(
      'TLS_UNREADABLE',
      `cannot read server.webhooks.clientCertificate.caFile: ${messageOf(thrown)}`,
      'name an existing PEM file, or leave clientCertificate out',
      { cause: thrown },
    );
  }
}
