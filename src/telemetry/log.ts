import { pino, type Logger } from 'pino';
import { pretty } from './text-lines.ts';

export type LogLevel = 'debug' | 'info' | 'error';
export type LogFormat = 'json' | 'text';
export type { Logger };

/** Where lines go: standard output, or whatever a test gives. */
export interface LogSink {
  write(line: string): void;
}

/**
 * The one logger. JSON is a line per event with a level word, an ISO time and `msg`; text is the same for people.
 * Lines for standard output are written in blocks of 4 KiB or at the latest after half a second, since a system
 * call per decision would cost more than the decision.
 */
export function createLogger(options: { level: LogLevel; format: LogFormat; sink?: LogSink }): Logger {
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (options.format === 'text') return pino(settings, pretty(options.sink));
  if (options.sink !== undefined) return pino(settings, options.sink);
  return pino(settings, pino.destination({ dest: 1, sync: false, minLength: 4096, periodicFlush: 500 }));
}

/** Writes out what is still held back: before the process ends. */
export const flushLog = (logger: Logger): Promise<void> =>
  new Promise((resolve) => {
    logger.flush(() => resolve());
  });
