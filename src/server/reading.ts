import type { IncomingMessage } from 'node:http';
import { LARGE_BYTES } from './load-limits.ts';
import { OneARound, Rotation } from './rotation.ts';

/** Bytes of one body that are read at a time: half a millisecond's work. */
const AT_A_TIME_BYTES = 256 * 1024;
/** The same of a body that is thrown away, since it has its answer: nobody waits for its end. As much as Node reads at once. */
const THROWN_AWAY_BYTES = 64 * 1024;
/**
 * Up to so many a body is read as it comes: to stop and go on costs a tenth of a review of half a megabyte. As much are all
 * of these together in one round: two milliseconds' work.
 */
const LONG_BYTES = 1024 * 1024;

/**
 * Large bodies are read so much at a time, one in a round of the event loop, of each address in turn. By itself Node reads
 * a socket for as long as something is there, two megabytes and more, before it looks at the next. Those that are not long
 * are read so only where many come at once: a tenant's hundred Pods of 0.9 MB would be a single round.
 */
export class Reading {
  readonly #waiting = new Rotation<() => void>();
  readonly #rounds = new OneARound(() => this.#waiting.next());
  /** Bytes of large bodies in the round under way; undefined where none has come yet. */
  #inRound: number | undefined;

  /**
   * To be called before anything of it is read.
   * @param isAnswered whether what else comes is thrown away
   */
  slowDown(request: IncomingMessage, address: string, isAnswered: () => boolean): void {
    let inParts = isLong(request);
    let since = 0;
    request.on('data', (chunk: Buffer) => {
      since += chunk.length;
      const isTooMuch = this.#count(chunk.length) > LONG_BYTES;
      if (!isTooMuch && !inParts) return;
      if (!isTooMuch && since < (isAnswered() ? THROWN_AWAY_BYTES : AT_A_TIME_BYTES)) return;
      inParts = true;
      since = 0;
      request.pause();
      this.#waiting.add(address, () => request.resume());
      this.#rounds.schedule();
    });
  }

  /** @returns how many there are in this round by now */
  #count(bytes: number): number {
    if (this.#inRound === undefined) setImmediate(this.#endRound);
    this.#inRound = (this.#inRound ?? 0) + bytes;
    return this.#inRound;
  }

  readonly #endRound = (): void => {
    this.#inRound = undefined;
  };
}

/** Whether a request may have a body that is always read in parts. */
export const isLong = (request: IncomingMessage): boolean => announces(request, LONG_BYTES);

/** Whether it may have one that is read in parts beside others. */
export const isLarge = (request: IncomingMessage): boolean => announces(request, LARGE_BYTES);

const announces = ({ headers }: IncomingMessage, bytes: number): boolean =>
  headers['content-length'] === undefined || Number(headers['content-length']) > bytes;
