import type { IncomingMessage } from 'node:http';
import { OneARound, Rotation } from './rotation.ts';

/** Bytes of one body that are read at a time: half a millisecond's work. */
const AT_A_TIME_BYTES = 256 * 1024;
/** The same of a body that is thrown away, since it has its answer: nobody waits for its end. As much as Node reads at once. */
const THROWN_AWAY_BYTES = 64 * 1024;
/** Up to so many a body is read as it comes: to stop and go on costs a tenth of a review of half a megabyte. */
const LONG_BYTES = 1024 * 1024;

/**
 * Large bodies are read so much at a time, one in a round of the event loop, of each address in turn. By itself Node reads
 * a socket for as long as something is there, two megabytes and more, before it looks at the next.
 */
export class Reading {
  readonly #waiting = new Rotation<() => void>();
  readonly #rounds = new OneARound(() => this.#waiting.next());

  /**
   * To be called before anything of it is read.
   * @param isAnswered whether what else comes is thrown away
   */
  slowDown(request: IncomingMessage, address: string, isAnswered: () => boolean): void {
    let since = 0;
    request.on('data', (chunk: Buffer) => {
      since += chunk.length;
      if (since < (isAnswered() ? THROWN_AWAY_BYTES : AT_A_TIME_BYTES)) return;
      since = 0;
      request.pause();
      this.#waiting.add(address, () => request.resume());
      this.#rounds.schedule();
    });
  }
}

/** Whether a request may have a body that is read in parts. */
export const isLong = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] === undefined || Number(headers['content-length']) > LONG_BYTES;
