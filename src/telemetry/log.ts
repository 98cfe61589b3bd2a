import { pino, type Logger, type DestinationStream } from 'pino';
import { BufferedOutput } from './buffered-output.ts';
import { failureLines } from './failure-lines.ts';
import { styleText } from 'node:util';
import { isObject, ownString, type Json, type JsonObject } from '../json/json.ts';
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

let second = 0;
let prefix = '';

/** `,"time":"2026-11-21T08:32:57.349Z"`; all but the milliseconds is worked out once a second. */
export function isoTime(): string {
  const now = Date.now();
  const milliseconds = now % 1000;
  if (now - milliseconds !== second) {
    second = now - milliseconds;
    prefix = new Date(second).toISOString().slice(0, 20);
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
