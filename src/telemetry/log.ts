import type { BackendMetrics } from './backend-metrics.ts';
import { pino, type Logger, type DestinationStream } from 'pino';
import { BufferedOutput } from './buffered-output.ts';
import { failureLines } from './failure-lines.ts';
import { styleText } from 'node:util';
import { isObject, ownString, printableJson, type Json, type JsonObject } from '../json/json.ts';
import { printable } from '../text/printable.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFormat = 'json' | 'text';
export type { Logger };

/**
 * The one logger. JSON is a line per event with a level word, an ISO time and `msg`; text is the same for people.
 * Lines for standard output are written in blocks, at the latest after half a second, since a system call per
 * decision would cost more than the decision.
 */
export function createLogger(options: {
  level: LogLevel;
  format: LogFormat;
  sink?: LogSink;
  /** Milliseconds, for tests. */
  now?: () => number;
}): Logger {
  const settings = {
    level: options.level,
    base: null,
    timestamp: isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    ...failureLines(options.now),
  };
  if (options.format === 'text') return pino(settings, textLines(options.sink));
  if (options.sink !== undefined) return pino(settings, options.sink);
  return pino(settings, new BufferedOutput(process.stdout.fd));
}

/** Writes out what is still held back: before the process ends. */
export const flushLog = (logger: Logger): Promise<void> =>
  new Promise((resolve) => {
    logger.flush(() => resolve());
  });

let prefixSecond = 0;
let prefix = '';

/** `,"time":"2026-11-21T08:32:57.349Z"`; all but the milliseconds is worked out once a second. */
function isoTime(): string {
  const now = Date.now();
  const milliseconds = now % 1000;
  if (now - milliseconds !== prefixSecond) {
    prefixSecond = now - milliseconds;
    prefix = new Date(prefixSecond).toISOString().slice(0, 20);
  }
  return `,"time":"${prefix}${String(milliseconds).padStart(3, '0')}Z"`;
}

/** Where lines go: standard output, or whatever a test gives. */
export interface LogSink {
  write(line: string): void;
}

const COLOURS = { error: 'red', warn: 'yellow', info: 'green', debug: 'blue' } as const;
/** Longer than any sentence of Muster's. */
const MAX_RUNES = 4096;

/**
 * Log lines for people, made from those in JSON: time, level, message, and the fields on one line under the names that
 * they have in JSON. An error's stack follows below.
 */
function textLines(sink: LogSink | undefined): DestinationStream {
  const { stdout } = process;
  const coloured = sink === undefined && stdout.isTTY;
  return {
    write: (line) => {
      const text = render(JSON.parse(line) as JsonObject, coloured);
      if (sink === undefined) stdout.write(text);
      else sink.write(text);
    },
  };
}

function render({ level, time, msg, err, ...fields }: JsonObject, coloured: boolean): string {
  const name = wordsOf(level);
  const word = name.toUpperCase();
  const colour = Object.hasOwn(COLOURS, name) ? COLOURS[name as keyof typeof COLOURS] : 'red';
  const shown = coloured ? styleText(colour, word, { validateStream: false }) : word;
  const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return `[${wordsOf(time)}] ${shown}: ${printable(wordsOf(msg), MAX_RUNES)}${rest}\n${stackOf(err)}`;
}

const wordsOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** As pino writes it: with its type and its message in the stack. What was thrown and is no error stands as it is. */
function stackOf(err: Json | undefined): string {
  if (err === undefined) return '';
  const text =
    (isObject(err) ? (ownString(err, 'stack') ?? ownString(err, 'message')) : undefined) ??
    JSON.stringify(err);
  return text
    .split('\n')
    .map((line) => `    ${printable(line.trim(), MAX_RUNES)}\n`)
    .join('');
}

/** What is logged of a decision: names and numbers, never the object. Undefined fields are left out. */
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
  /** Names of the rules that it breaks. */
  readonly rules: readonly string[];
  /** Number of operations in the patch. */
  readonly operations: number;
  readonly dryRun: boolean;
  /** Milliseconds from its headers to its answer. */
  readonly ms: number;
}

/** Lets so many lines through within each second, and counts the others. */
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

  /** How many were left out since the last one; undefined: this one is left out, too. */
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
 * Writes the one line of a decision past pino's general serialiser, into the same stream and in the same form: the
 * fields are known, and this line is written as often as a review is answered, where the general way costs a tenth of
 * the review.
 * @param perSecond lines within a second of what is let in; what is refused is always told
 */
export function decisionLog(
  logger: Logger,
  perSecond: number,
  now: () => number = Date.now,
): (line: DecisionLine) => void {
  if (!logger.isLevelEnabled('info')) return () => undefined;
  const stream = (logger as unknown as Record<symbol, { write(line: string): void }>)[pino.symbols.streamSym];
  const allowed = new LinesPerSecond(perSecond, now);
  return (line) => {
    const omitted = line.allowed ? allowed.take() : 0;
    if (omitted !== undefined) stream?.write(decisionText(line, omitted));
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
    `,"operations":${line.operations}${line.dryRun ? ',"dryRun":true' : ''}` +
    (omitted === 0 ? '' : `,"omitted":${omitted}`) +
    `,"ms":${Math.round(line.ms * 1000) / 1000},"msg":"decided"}\n`
  );
}

/** What the log reads of an admission request and of its decision. */
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
}

/** Counts what backends did to Pods, and logs what was decided. */
export function reviewObserver(backends: Pick<BackendMetrics, 'operated'>, log: Logger, perSecond: number) {
  const logDecision = decisionLog(log, perSecond);
  return {
    prepared: (backend: string, ok: boolean, seconds: number): void =>
      backends.operated(backend, 'mutate', ok, seconds),
    decided: (request: LoggedRequest, decision: LoggedDecision, name: string, ms: number): void =>
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
        operations: decision.changes.length,
        dryRun: request.dryRun,
        ms,
      }),
  };
}
