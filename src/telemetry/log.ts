import type { BackendMetrics } from './backend-metrics.ts';
import { pino, type Logger } from 'pino';
import { BufferedOutput } from './buffered-output.ts';
import { failureLines, LogCounts } from './failure-lines.ts';
import { textLines, type LogSink } from './text-lines.ts';
import { printableJson } from '../json/json.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFormat = 'json' | 'text';
export type { Logger };

/**
 * Creates the logger. JSON has one line per event with the level as a word, an ISO time and `msg`; text has the same
 * content for people. Lines for standard output are written in blocks, after half a second at the latest, since one
 * system call per decision would cost more than the decision.
 */
export function createLogger(options: {
  level: LogLevel;
  format: LogFormat;
  sink?: LogSink;
  /** Counts the lines; absent: nobody reads the counts. */
  counts?: LogCounts;
  /** Returns milliseconds; for tests. */
  now?: () => number;
}): Logger {
  const { counts = new LogCounts() } = options;
  const settings = {
    level: options.level,
    base: null,
    timestamp: isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    ...failureLines(counts, options.now),
  };
  if (options.format === 'text') return pino(settings, textLines(options.sink));
  if (options.sink !== undefined) return pino(settings, options.sink);
  return pino(settings, new BufferedOutput(process.stdout.fd, (bytes) => (counts.droppedBytes += bytes)));
}

/** Writes the buffered lines before the process ends. */
export const flushLog = (logger: Logger): Promise<void> =>
  new Promise((resolve) => {
    logger.flush(() => resolve());
  });

let prefixSecond = 0;
let prefix = '';

/** `,"time":"2026-11-21T08:32:57.349Z"`; everything but the milliseconds is computed once a second. */
function isoTime(): string {
  const now = Date.now();
  const milliseconds = now % 1000;
  if (now - milliseconds !== prefixSecond) {
    prefixSecond = now - milliseconds;
    prefix = new Date(prefixSecond).toISOString().slice(0, 20);
  }
  return `,"time":"${prefix}${String(milliseconds).padStart(3, '0')}Z"`;
}

/** The logged fields of a decision: names and numbers, never the object. Undefined fields are omitted. */
export interface DecisionLine {
  readonly uid: string;
  readonly operation: string;
  readonly kind: string;
  readonly subResource: string | undefined;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly backend: string | undefined;
  /** `namespace/name` */
  readonly gang: string | undefined;
  readonly allowed: boolean;
  /** Names of the rules that the object breaks. */
  readonly rules: readonly string[];
  /** Number of warnings in the answer. */
  readonly warnings: number;
  /** Number of operations in the patch. */
  readonly operations: number;
  readonly dryRun: boolean;
  /** Milliseconds from the request's headers to the answer. */
  readonly ms: number;
}

/** Limits the lines per second, and counts those omitted. */
class LinesPerSecond {
  readonly #most: number;
  readonly #now: () => number;
  #second = -Infinity;
  #told = 0;
  #omitted = 0;

  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  /** Number of lines omitted since the last one; undefined when this line has to be omitted too. */
  take(): number | undefined {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#second) [this.#second, this.#told] = [second, 0];
    if (this.#told >= this.#most) {
      this.#omitted += 1;
      return undefined;
    }
    this.#told += 1;
    const omitted = this.#omitted;
    this.#omitted = 0;
    return omitted;
  }
}

/**
 * Writes the line of a decision without pino's general serialiser, to the same stream and in the same format: its
 * fields are known, and it is written for every review, where the serialiser would take a tenth of the review's time.
 * @param perSecond the most lines per second for allowed requests, and as many for those with warnings; refusals are
 *   always logged
 */
export function decisionLog(
  logger: Logger,
  perSecond: number,
  counts: LogCounts,
  now: () => number = Date.now,
): (line: DecisionLine) => void {
  if (!logger.isLevelEnabled('info')) return () => undefined;
  const stream = (logger as unknown as Record<symbol, { write(line: string): void }>)[pino.symbols.streamSym];
  const allowed = new LinesPerSecond(perSecond, now);
  const warned = new LinesPerSecond(perSecond, now);
  return (line) => {
    const lines = line.warnings > 0 ? warned : allowed;
    const omitted = line.allowed ? lines.take() : 0;
    if (omitted === undefined) {
      counts.omitted.decisions += 1;
      return;
    }
    counts.lines['info'] = (counts.lines['info'] ?? 0) + 1;
    stream?.write(decisionText(line, omitted));
  };
}

function decisionText(line: DecisionLine, omitted: number): string {
  return (
    `{"level":"info"${isoTime()},"uid":${printableJson(line.uid)},"operation":"${line.operation}"` +
    `,"kind":${printableJson(line.kind)}` +
    (line.subResource === undefined ? '' : `,"subResource":${printableJson(line.subResource)}`) +
    `,"namespace":${printableJson(line.namespace)},"name":${printableJson(line.name)},"user":${printableJson(line.user)}` +
    (line.backend === undefined ? '' : `,"backend":${printableJson(line.backend)}`) +
    (line.gang === undefined ? '' : `,"gang":${printableJson(line.gang, 320)}`) +
    `,"allowed":${line.allowed}` +
    (line.rules.length === 0 ? '' : `,"rules":${JSON.stringify(line.rules)}`) +
    (line.warnings === 0 ? '' : `,"warnings":${line.warnings}`) +
    `,"operations":${line.operations}${line.dryRun ? ',"dryRun":true' : ''}` +
    (omitted === 0 ? '' : `,"omitted":${omitted}`) +
    `,"ms":${Math.round(line.ms * 1000) / 1000},"msg":"decided"}\n`
  );
}

/** The fields of an admission request and its decision that are logged. */
interface LoggedRequest {
  readonly uid: string;
  readonly operation: string;
  readonly kind: { readonly kind: string };
  readonly subResource: string;
  readonly namespace: string;
  readonly username: string;
  readonly dryRun: boolean;
}
interface LoggedDecision extends Pick<DecisionLine, 'backend' | 'gang'> {
  readonly faults: readonly { readonly rule: string }[];
  readonly changes: readonly unknown[];
  readonly warnings: readonly string[];
}

/** Counts the backends' Pod operations and the broken rules, and logs each decision. */
export function reviewObserver(
  metrics: {
    readonly backends: Pick<BackendMetrics, 'operated'>;
    readonly logCounts: LogCounts;
    refused(rule: string): void;
  },
  log: Logger,
  perSecond: number,
) {
  const logDecision = decisionLog(log, perSecond, metrics.logCounts);
  return {
    prepared: (backend: string, ok: boolean, seconds: number): void =>
      metrics.backends.operated(backend, 'mutate', ok, seconds),
    decided: (request: LoggedRequest, decision: LoggedDecision, name: string, ms: number): void => {
      for (const { rule } of decision.faults) metrics.refused(rule);
      logDecision({
        uid: request.uid,
        operation: request.operation,
        kind: request.kind.kind,
        subResource: request.subResource === '' ? undefined : request.subResource,
        namespace: request.namespace,
        name,
        user: request.username,
        backend: decision.backend,
        gang: decision.gang,
        allowed: decision.faults.length === 0,
        rules: decision.faults.map(({ rule }) => rule),
        warnings: decision.warnings.length,
        operations: decision.changes.length,
        dryRun: request.dryRun,
        ms,
      });
    },
  };
}
