import type { Readable } from 'node:stream';
import { Lines } from './lines.ts';

/** In this time (ms) so many bytes are read and so many lines are passed on, and no more. */
const WINDOW_MS = 1_000;
const MOST_BYTES = 256 * 1024;
const MOST_LINES = 20;
const MOST_CHARACTERS = 2_000;

/**
 * Reads what a process writes, a little at a time: one that writes without end waits for its reader, and takes nobody
 * else's time.
 */
export class OutputMeter {
  constructor(stream: Readable, wrote: (line: string) => void) {
    let [bytes, lines, left] = [0, 0, 0];
    let timer: NodeJS.Timeout | undefined;
    const line = (text: string): void => {
      lines += 1;
      if (lines <= MOST_LINES) wrote(text);
      else left += 1;
    };
    const cut = new Lines(MOST_CHARACTERS, line, () =>
      line(`a line of more than ${MOST_CHARACTERS} characters`),
    );
    const next = (): void => {
      timer = undefined;
      if (left > 0) wrote(`${left} further lines within a second are left out`);
      [bytes, lines, left] = [0, 0, 0];
      stream.resume();
    };
    stream.setEncoding('utf8').on('data', (text: string) => {
      timer ??= setTimeout(next, WINDOW_MS).unref();
      bytes += text.length;
      cut.push(text);
      if (bytes > MOST_BYTES) stream.pause();
    });
    stream.on('error', () => undefined);
  }
}
