import { write, writeSync } from 'node:fs';

/** A block is written when it is full, or this long after its first line. */
const BLOCK_BYTES = 64 * 1024;
const FLUSH_AFTER_MS = 500;
/** What may wait for a reader that does not read. Beyond it lines are dropped and counted: never the Pods' time. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Collects log lines in one buffer and writes it asynchronously, so that neither a line nor a slow reader holds up a
 * review. pino's own buffering keeps lines as strings and encodes them when they are written, which costs more than
 * writing each into place.
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

  constructor(fd: number) {
    this.#fd = fd;
    process.once('exit', () => this.flushSync());
  }

  write(line: string): void {
    // Three bytes of UTF-8 for one unit of a string, at most.
    if (this.#used + line.length * 3 > BLOCK_BYTES) this.#seal();
    if (line.length * 3 > BLOCK_BYTES) this.#enqueue(Buffer.from(line));
    else this.#used += this.#block.write(line, this.#used, 'utf8');
    this.#timer ??= setTimeout(() => this.#seal(), FLUSH_AFTER_MS).unref();
  }

  /** pino's interface: everything so far is written when `done` is called. */
  flush(done?: (error?: Error) => void): void {
    this.#seal();
    if (done === undefined) return;
    if (this.#writing) this.#flushed.push(() => done());
    else done();
  }

  /** Everything so far, before the process ends. */
  flushSync(): void {
    this.#seal({ start: false });
    for (const block of this.#waiting.splice(0)) {
      let offset = 0;
      while (offset < block.length) {
        try {
          offset += writeSync(this.#fd, block, offset);
        } catch (thrown) {
          // A full pipe says EAGAIN; whatever else it is, there is nobody left to tell.
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
      // The exit handler may have written it meanwhile.
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
