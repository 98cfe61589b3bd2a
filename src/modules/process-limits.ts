import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Lines } from './wire.ts';

/** Time between two checks (ms). */
const CHECK_INTERVAL_MS = 500;
const PAGE = 4096;

export interface WatchedProcess {
  /** Whether an answer is waited for, or was in vain. */
  readonly busy: () => boolean;
  readonly ping: () => void;
  readonly end: (reason: string) => void;
}

/** Ends a process that lets nothing run, or takes more memory than it may. */
export class ProcessWatch {
  readonly #statistics: string;
  readonly #limits: ModuleLimits;
  readonly #watched: WatchedProcess;
  readonly #timer: NodeJS.Timeout;
  /** Looks are counted, not time: while Muster itself is held up, it hears nothing either. */
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

  /** Where there is no such file, as elsewhere than on Linux, only the heap is bounded. */
  async #weigh(): Promise<void> {
    const text = await readFile(this.#statistics, 'utf8').catch(() => '');
    const resident = Number(text.split(' ')[1] ?? 0) * PAGE;
    if (resident > this.#limits.residentMib * 1024 * 1024)
      this.#watched.end(`it took more than ${this.#limits.residentMib} MiB of memory`);
  }
}

/** What a module may take. */
export interface ModuleLimits {
  /** How long (ms) it may take to load, `create()` included. Less than `init` has, which waits for it. */
  readonly loadMs: number;
  /** How long (ms) a review waits for it: reviews are repeated, and others have to be answered meanwhile. */
  readonly answerMs: number;
  /** How long (ms) it may let nothing else run while it is asked something. */
  readonly silentMs: number;
  /** Of V8's heap, which ends the process where it is full. */
  readonly heapMib: number;
  /** Of all that the process has in memory, what lies outside of that heap included. */
  readonly residentMib: number;
}

export const MODULE_LIMITS: ModuleLimits = {
  loadMs: 8_000,
  answerMs: 2_000,
  silentMs: 5_000,
  heapMib: 64,
  residentMib: 256,
};

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
