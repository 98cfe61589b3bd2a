import { write, writeSync } from 'node:fs';

/** A block is written when it is full, or this long (ms) after its first line. */
const BLOCK_BYTES = 64 * 1024;
const FLUSH_AFTER_MS = 500;
/** The most bytes that wait for a slow reader. Further lines are dropped and counted, so that reviews never wait. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Collects log lines in one buffer and writes it asynchronously, so that neither a line nor a slow reader delays a
 * review. pino's own buffering keeps lines as strings and encodes them when they are written, which costs more than
 * encoding each line into the buffer.
 */
export class BufferedOutput {
  readonly #fd: number;
  #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #used = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writing = false;
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;
  readonly #flushed: (() => void)[] = [];

  readonly #lost: (bytes: number) => void;

  /** @param lost called with the bytes that are dropped because nobody reads */
  constructor(fd: number, lost: (bytes: number) => void = () => undefined) {
    this.#fd = fd;
    this.#lost = lost;
    process.once('exit', () => this.flushSync());
  }

  write(line: string): void {
    // One UTF-16 code unit takes at most three bytes of UTF-8.
    if (this.#used + line.length * 3 > BLOCK_BYTES) this.#seal();
    if (line.length * 3 > BLOCK_BYTES) this.#enqueue(Buffer.from(line));
    else this.#used += this.#block.write(line, this.#used, 'utf8');
    this.#timer ??= setTimeout(() => this.#seal(), FLUSH_AFTER_MS).unref();
  }

  /** pino's interface: `done` is called once all lines so far are written. */
  flush(done?: (error?: Error) => void): void {
    this.#seal();
    if (done === undefined) return;
    if (this.#writing) this.#flushed.push(() => done());
    else done();
  }

  /** Writes all lines so far synchronously, before the process ends. */
  flushSync(): void {
    this.#seal({ start: false });
    for (const block of this.#waiting.splice(0)) {
      let offset = 0;
      while (offset < block.length) {
        try {
          offset += writeSync(this.#fd, block, offset);
        } catch (thrown) {
          // A full pipe gives EAGAIN; after any other error there is no reader left.
          if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        }
      }
    }
    this.#waitingBytes = 0;
  }

  #seal({ start = true } = {}): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used > 0) {
      this.#enqueue(this.#block.subarray(0, this.#used));
      this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
      this.#used = 0;
    }
    if (start && !this.#writing) this.#next();
  }

  #enqueue(block: Buffer): void {
    if (this.#waitingBytes + block.length > MAX_WAITING_BYTES) {
      this.#dropped += block.length;
      this.#lost(block.length);
      return;
    }
    if (this.#dropped > 0) {
      const note = {
        level: 'error',
        time: new Date().toISOString(),
        bytes: this.#dropped,
        msg: 'log lines dropped',
      };
      this.#dropped = 0;
      this.#enqueue(Buffer.from(`${JSON.stringify(note)}\n`));
    }
    this.#waiting.push(block);
    this.#waitingBytes += block.length;
  }

  #next(): void {
    const block = this.#waiting[0];
    if (block === undefined) {
      this.#writing = false;
      for (const done of this.#flushed.splice(0)) done();
      return;
    }
    this.#writing = true;
    write(this.#fd, block, (error, written) => {
      const again = error?.code === 'EAGAIN';
      // The exit handler may have written the block meanwhile.
      if (this.#waiting[0] === block) {
        if (error !== null && !again) written = block.length;
        this.#waitingBytes -= written;
        if (written >= block.length) this.#waiting.shift();
        else this.#waiting[0] = block.subarray(written);
      }
      if (again) setTimeout(() => this.#next(), 10).unref();
      else this.#next();
    });
  }
}
