import { pino, type Logger } from 'pino';
import { BufferedOutput } from './buffered-output.ts';
import { failureLines } from './failure-lines.ts';
import { textLines, type LogSink } from './text-lines.ts';

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
