import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { must } from './target.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * One TLS connection, on which bytes are sent as they are, and of which every answer is read to the letter of RFC 9112:
 * what a lenient client lets pass is found here.
 */
export class Caller {
  readonly #socket: TLSSocket;
  #received = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => undefined;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    for (const end of ['end', 'close', 'error'])
      socket.on(end, () => {
        this.#ended = true;
        this.#wake();
      });
  }

  static open(port: number): Promise<Caller> {
    return new Promise((resolve, reject) => {
      const options: ConnectionOptions & { allowHalfOpen?: boolean } = {
        host: '127.0.0.1',
        port,
        rejectUnauthorized: false,
        allowHalfOpen: true,
      };
      const socket = connect(options, () => {
        socket.off('error', reject);
        resolve(new Caller(socket));
      });
      socket.once('error', reject);
    });
  }

  get ended(): boolean {
    return this.#ended;
  }

  send(bytes: Buffer): void {
    if (!this.#ended) this.#socket.write(bytes);
  }

  /** As {@link send}, and has it gone out before anything follows. */
  sendAlone(bytes: Buffer): Promise<void> {
    return this.#ended
      ? Promise.resolve()
      : new Promise((resolve) => this.#socket.write(bytes, () => resolve()));
  }

  /** Nothing more will be sent. */
  finish(): void {
    if (!this.#ended) this.#socket.end();
  }

  /** The next answer; undefined where the connection ends without one. @throws where neither comes in time */
  async answer(withinMs: number): Promise<HttpAnswer | undefined> {
    let found = this.#take();
    const deadline = performance.now() + withinMs;
    const timer = setTimeout(() => this.#wake(), withinMs);
    try {
      while (found === undefined && !this.#ended) {
        must(
          performance.now() < deadline,
          () =>
            `neither an answer nor the end of the connection within ${withinMs} ms: ${this.#received.toString('latin1')}`,
        );
        await new Promise<void>((resolve) => (this.#wake = resolve));
        found = this.#take();
      }
    } finally {
      clearTimeout(timer);
    }
    if (found === undefined)
      must(this.#received.length === 0, () => `a part of an answer: ${this.#received.toString('latin1')}`);
    return found;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(): HttpAnswer | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const head = this.#received.toString('latin1', 0, end);
    const [first = '', ...lines] = head.split('\r\n');
    const status = /^HTTP\/1\.1 ([1-5][0-9]{2}) [\x20-\x7e]+$/.exec(first)?.[1];
    must(status !== undefined, `no status line: ${JSON.stringify(head)}`);
    if (status === '100') {
      this.#received = this.#received.subarray(end + 4);
      return this.#take();
    }
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name, value] = /^([A-Za-z0-9-]+): ([\x20-\x7e]*)$/.exec(line) ?? [];
      must(name !== undefined && value !== undefined, `no header line: ${JSON.stringify(line)}`);
      must(!headers.has(name.toLowerCase()), `the header ${name} twice`);
      headers.set(name.toLowerCase(), value);
    }
    const length = headers.get('content-length') ?? '';
    must(/^[0-9]+$/.test(length) && !headers.has('transfer-encoding'), `no length: ${JSON.stringify(head)}`);
    const start = end + 4;
    if (this.#received.length < start + Number(length)) return undefined;
    const body = UTF8.decode(this.#received.subarray(start, start + Number(length)));
    this.#received = this.#received.subarray(start + Number(length));
    return { status: Number(status), headers, body };
  }
}
