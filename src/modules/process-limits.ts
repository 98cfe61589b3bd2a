import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Lines } from './wire.ts';

/** Time between two checks (ms). */
const CHECK_INTERVAL_MS = 500;
const PAGE = 4096;

export interface WatchedProcess {
  /** Whether a call is open, or was given up without an answer. */
  readonly busy: () => boolean;
  readonly ping: () => void;
  readonly end: (reason: string) => void;
}

/** Ends a process that blocks its event loop, or takes more memory than allowed. */
export class ProcessWatch {
  readonly #statistics: string;
  readonly #limits: ModuleLimits;
  readonly #watched: WatchedProcess;
  readonly #timer: NodeJS.Timeout;
  /**
   * Number of checks without a message. Checks are counted instead of time, since Muster receives nothing while it is
   * blocked itself.
   */
  #silent = 0;

  constructor(pid: number | undefined, limits: ModuleLimits, watched: WatchedProcess) {
    this.#limits = limits;
    this.#statistics = `/proc/${pid ?? 0}/statm`;
    this.#watched = watched;
    this.#timer = setInterval(() => this.#look(), CHECK_INTERVAL_MS).unref();
  }

  received(): void {
    this.#silent = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { silentMs } = this.#limits;
    void this.#weigh();
    if (!this.#watched.busy()) {
      this.#silent = 0;
      return;
    }
    this.#silent += 1;
    if (this.#silent === 1) this.#watched.ping();
    if (this.#silent * CHECK_INTERVAL_MS <= silentMs) return;
    this.#watched.end(
      `it was at work for ${silentMs / 1000} s and let nothing else run: a loop without an end`,
    );
  }

  /** Ends a process with too much memory, by /proc; elsewhere than on Linux only the heap is bounded. */
  async #weigh(): Promise<void> {
    const text = await readFile(this.#statistics, 'utf8').catch(() => '');
    const resident = Number(text.split(' ')[1] ?? 0) * PAGE;
    if (resident > this.#limits.residentMib * 1024 * 1024)
      this.#watched.end(`it took more than ${this.#limits.residentMib} MiB of memory`);
  }
}

/** Limits for the process of a module. */
export interface ModuleLimits {
  /** How long (ms) loading may take, `create()` included; shorter than the timeout of `init`, which waits for it. */
  readonly loadMs: number;
  /** How long (ms) a review waits for an answer: the API server retries reviews, and other reviews need the slot. */
  readonly answerMs: number;
  /** How long (ms) a module with an open call may block its event loop. */
  readonly silentMs: number;
  /** Size of V8's heap; V8 ends the process when it is full. */
  readonly heapMib: number;
  /** Resident memory of the process, memory outside of the heap included. */
  readonly residentMib: number;
}

export const MODULE_LIMITS: ModuleLimits = {
  loadMs: 8_000,
  answerMs: 2_000,
  silentMs: 5_000,
  heapMib: 64,
  residentMib: 256,
};

/** Length (ms) of the window that the limits on bytes and lines count in. */
const WINDOW_MS = 1_000;
const MOST_BYTES = 256 * 1024;
const MOST_LINES = 20;
const MOST_CHARACTERS = 2_000;

/**
 * Reads a process's output at a bounded rate: a process that writes without end is blocked by its full pipe, and does not
 * occupy Muster.
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
