import { PassThrough } from 'node:stream';
import pinoPretty from 'pino-pretty';
import type { DestinationStream } from 'pino';

/** Where lines go: standard output, or whatever a test gives. */
export interface LogSink {
  write(line: string): void;
}

/** Log lines for people: time, level, message, and the fields on one line. */
export function pretty(sink: LogSink | undefined): DestinationStream {
  const options = { colorize: sink === undefined && process.stdout.isTTY, singleLine: true, sync: true };
  if (sink === undefined) return pinoPretty({ ...options, destination: 1 });
  const through = new PassThrough();
  through.on('data', (chunk: Buffer) => sink.write(chunk.toString('utf8')));
  return pinoPretty({ ...options, destination: through });
}
