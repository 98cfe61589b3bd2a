import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

/** An answer as it stood on the wire. Header names are lower case. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Only so that it ends where something hangs: what a test waits for is a server's own deadline, and a busy machine. */
const DEADLINE_MS = 30_000;

/**
 * One TLS connection on which a test writes HTTP byte by byte: Node's own client would not send what is wrong, and
 * would not show what came back before the body was out.
 */
export class Wire {
  readonly socket: TLSSocket;
  /** The error with which the connection ended, if it did: a reset is one, an orderly end is none. */
  error: (Error & { code?: string }) | undefined;
  #received: Buffer = Buffer.alloc(0);
  #wake: () => void = () => undefined;
  #ended = false;

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    const ended = (): void => {
      this.#ended = true;
      this.#wake();
    };
    socket.on('end', ended).on('close', ended);
    socket.on('error', (error: Error) => {
      this.error = error;
      ended();
    });
  }

  /** Resolves when the handshake is done. `allowHalfOpen` makes a client that never closes from its side. */
  static open(
    port: number,
    options: ConnectionOptions & { allowHalfOpen?: boolean; localAddress?: string } = {},
  ): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
        socket.off('error', reject);
        resolve(new Wire(socket));
      });
      socket.once('error', reject);
    });
  }

  /** Whether the server has ended the connection. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Bytes that came beyond the last answer taken. */
  get unread(): string {
    return this.#received.toString('latin1');
  }

  send(...parts: (string | Buffer)[]): this {
    for (const part of parts) this.socket.write(part);
    return this;
  }

  /** As {@link send}, and waits until the kernel has taken it all, or the connection is gone. */
  async sendAll(part: string | Buffer): Promise<void> {
    if (!this.#ended) await new Promise<void>((resolve) => this.socket.write(part, () => resolve()));
  }

  /** The next answer. @throws where the connection ends or `deadlineMs` passes before it is whole */
  async answer(deadlineMs = DEADLINE_MS): Promise<WireAnswer> {
    let found = this.#take();
    await this.#until(() => (found ??= this.#take()) !== undefined, 'an answer', deadlineMs);
    if (found === undefined) {
      const reason = this.error?.message ?? 'orderly';
      throw new Error(`the connection ended (${reason}) before an answer; received: ${this.unread}`);
    }
    return found;
  }

  /** Resolves when the server has ended the connection. @throws where `deadlineMs` passes before */
  async closed(deadlineMs = DEADLINE_MS): Promise<void> {
    await this.#until(() => this.#ended, 'the end of the connection', deadlineMs);
  }

  destroy(): void {
    this.socket.destroy();
  }

  async #until(done: () => boolean, what: string, deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    while (!done()) {
      if (this.#ended) return;
      const left = deadline - performance.now();
      if (left <= 0)
        throw new Error(`${what} did not come within ${deadlineMs} ms; received: ${this.unread}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #take(): WireAnswer | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.#received.toString('latin1', 0, end).split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const length = Number(headers['content-length'] ?? 0);
    const start = end + 4;
    if (this.#received.length < start + length) return undefined;
    const body = this.#received.toString('utf8', start, start + length);
    this.#received = this.#received.subarray(start + length);
    return { status: Number(first.split(' ')[1]), headers, body };
  }
}

/** The head and body of a request. `headers` replace what is sent by default; undefined leaves a header out. */
export function httpRequest(
  path: string,
  body: string | Buffer = '',
  { method = 'POST', headers = {} }: { method?: string; headers?: Record<string, string | undefined> } = {},
): Buffer {
  const bytes = Buffer.from(body);
  const all: Record<string, string | undefined> = {
    Host: 'muster.muster-system.svc:443',
    'User-Agent': 'kube-apiserver-admission',
    'Content-Type': 'application/json',
    Accept: 'application/json, */*',
    'Content-Length': method === 'GET' ? undefined : String(bytes.length),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${value}`,
  );
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

/** One chunk of `Transfer-Encoding: chunked`. */
export const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
