import { collectDefaultMetrics, Registry } from 'prom-client';
import { BackendMetrics, DurationHistogram } from './backend-metrics.ts';
import { LogCounts } from './failure-lines.ts';
import { admissionMetrics, counter, gauge } from './metric-catalogue.ts';

export type Outcome = 'allowed' | 'patched' | 'denied' | 'failed';
const SHED_REASONS = ['requests', 'bytes', 'not-ready', 'gang-unread'] as const;
const STANDINGS = ['handshake', 'stranger', 'known'] as const;
export type ShedReason = (typeof SHED_REASONS)[number];

/** What a program was built from. */
export interface Build {
  readonly version: string;
  /** Absent where the build did not know it. */
  readonly commit?: string;
}

/** The metrics of one program, on a separate registry. */
export class Metrics {
  readonly registry = new Registry();
  readonly logCounts: LogCounts;
  readonly inFlight = gauge('muster_admission_in_flight', this.registry);
  readonly inFlightBytes = gauge('muster_admission_in_flight_bytes', this.registry);
  readonly connections = gauge('muster_connections', this.registry);
  readonly backends = new BackendMetrics(this.registry);
  readonly #requests = counter('muster_admission_requests_total', this.registry);
  readonly #shed = counter('muster_admission_shed_total', this.registry);
  readonly #refusals = counter('muster_admission_refusals_total', this.registry);
  readonly #gaveWay = counter('muster_connections_evicted_total', this.registry);
  readonly #httpFailures = counter('muster_http_failures_total', this.registry);
  readonly #reloads = counter('muster_tls_reload_total', this.registry);
  readonly #logLines = counter('muster_log_lines_total', this.registry);
  readonly #logOmitted = counter('muster_log_omitted_total', this.registry);
  readonly #logDropped = counter('muster_log_dropped_bytes_total', this.registry);
  #notAfter: ReturnType<typeof gauge> | undefined;
  #coversLeaf: ReturnType<typeof gauge> | undefined;
  readonly #collectors: (() => void)[] = [];
  readonly #durations = new DurationHistogram(
    'muster_admission_duration_seconds',
    admissionMetrics.muster_admission_duration_seconds.help,
    admissionMetrics.muster_admission_duration_seconds.labels,
    this.registry,
  );

  /**
   * @param paths the webhook paths, so that their series exist from the start with 0
   * @param logCounts of the program's log
   */
  constructor({ version, commit = 'unknown' }: Build, paths: readonly string[], logCounts = new LogCounts()) {
    this.logCounts = logCounts;
    // Event-loop lag, garbage collection, memory and CPU under the usual names of Node programs.
    collectDefaultMetrics({ register: this.registry });
    gauge('muster_build_info', this.registry).set({ version, commit }, 1);
    for (const path of paths) {
      for (const outcome of ['allowed', 'patched', 'denied', 'failed'] satisfies Outcome[]) {
        this.#requests.inc({ path, operation: 'CREATE', outcome }, 0);
      }
    }
    for (const reason of SHED_REASONS) this.#shed.inc({ reason }, 0);
    for (const standing of STANDINGS) this.#gaveWay.inc({ standing }, 0);
    for (const result of ['unchanged', 'swapped', 'rejected']) this.#reloads.inc({ result }, 0);
  }

  /** Calls `collect` before every scrape, to set gauges from other sources. */
  collectFrom(collect: () => void): void {
    this.#collectors.push(collect);
  }

  /** All metrics in the text format of Prometheus. */
  async expose(): Promise<{ contentType: string; body: string }> {
    for (const collect of this.#collectors) collect();
    // The counter is set from the histogram, so that a review updates only one of them.
    for (const { labels, count } of this.#durations.series()) {
      this.#requests.remove(labels);
      this.#requests.inc(labels, count);
    }
    const { lines, omitted, droppedBytes } = this.logCounts;
    for (const one of [this.#logLines, this.#logOmitted, this.#logDropped]) one.reset();
    for (const [level, count] of Object.entries(lines)) this.#logLines.inc({ level }, count);
    for (const [reason, count] of Object.entries(omitted)) this.#logOmitted.inc({ reason }, count);
    this.#logDropped.inc(droppedBytes);
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }

  answered(path: string, operation: string, outcome: Outcome, seconds: number): void {
    this.#durations.observe([path, operation, outcome], seconds);
  }

  /** @param rule one of the rules of docs/reference/rules.md, so the series are few */
  refused(rule: string): void {
    this.#refusals.inc({ rule });
  }

  shed(reason: ShedReason): void {
    this.#shed.inc({ reason });
  }

  gaveWay(standing: (typeof STANDINGS)[number]): void {
    this.#gaveWay.inc({ standing });
  }

  httpFailure(code: number): void {
    this.#httpFailures.inc({ code: String(code) });
  }

  /** There is no such metric before the first certificate: 0 would be one that ended in 1970. */
  certificateEnds(notAfter: Date): void {
    this.#notAfter ??= gauge('muster_tls_not_after_seconds', this.registry);
    this.#notAfter.set(notAfter.getTime() / 1000);
  }

  /** Not called where nobody reads the caBundles: there is no such metric then. */
  coversLeaf(covers: boolean): void {
    this.#coversLeaf ??= gauge('muster_tls_ca_bundle_covers_leaf', this.registry);
    this.#coversLeaf.set(covers ? 1 : 0);
  }

  reloaded(result: string): void {
    this.#reloads.inc({ result });
  }
}
