import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import { checkAnswer } from './answer.ts';
import type { PatchOperation } from './contest.ts';
import { HttpAnswers, type HttpAnswer } from './http-answers.ts';
import { checkInterpretation, INTERPRET, interpretationOf } from './interpretations.ts';
import { reviewOf, type Body } from './reviews.ts';

/** Whom lanes talk to. */
export interface Target {
  readonly port: number;
  readonly secureContext: SecureContext;
  readonly mode: 'keep' | 'new';
  /** Milliseconds that the answer took. */
  answered(lane: Lane, ms: number): void;
  failed(error: Error): void;
}

/** What is sent where, and what its answer has to be. */
const reviewed = { path: '/mutate-v1-pod', good: Buffer.from('"allowed":true'), check: checkAnswer };
const interpreted = {
  path: INTERPRET,
  good: Buffer.from('"successful":true'),
  check: checkInterpretation,
};

/** One connection after another that sends one prepared review whenever it is told to. */
export class Lane {
  readonly #target: Target;
  readonly #kind: typeof reviewed;
  readonly #review: Record<string, unknown>;
  readonly #uid: Buffer;
  readonly #request: Buffer;
  readonly #wanted: readonly PatchOperation[] | undefined;
  #socket: TLSSocket | undefined;
  #waiting = false;
  #sentAt = 0;
  #checked = false;

  /** @param variant which of the reviews of one length */
  constructor(target: Target, body: Body, variant: number, wanted?: readonly PatchOperation[]) {
    this.#target = target;
    this.#wanted = wanted;
    this.#kind = body.interpreted ? interpreted : reviewed;
    this.#review = body.interpreted ? interpretationOf(variant) : reviewOf(body, variant);
    this.#uid = Buffer.from((this.#review['request'] as { uid: string }).uid);
    const text = JSON.stringify(this.#review);
    this.#request = Buffer.from(
      `POST ${this.#kind.path}?timeout=5s HTTP/1.1\r\nHost: localhost:${target.port}\r\n` +
        `User-Agent: kube-apiserver-admission\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` +
        `Accept: application/json, */*\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n` +
        `${target.mode === 'new' ? 'Connection: close\r\n' : ''}\r\n${text}`,
    );
  }

  /** The review, over the open connection or a new one. */
  send(): void {
    this.#waiting = true;
    this.#sentAt = performance.now();
    if (this.#socket === undefined) this.#socket = this.#open();
    else this.#socket.write(this.#request);
  }

  #open(): TLSSocket {
    const { port, secureContext } = this.#target;
    const options = { host: '127.0.0.1', port, servername: 'localhost', secureContext };
    const answers = new HttpAnswers();
    const socket = connect({ ...options, ALPNProtocols: ['http/1.1'] }, () => socket.write(this.#request));
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      const answer = answers.push(chunk);
      if (answer !== undefined) this.#take(answer);
    });
    socket.on('error', (error) => this.#ended(socket, error));
    socket.on('close', () => this.#ended(socket, new Error('the server closed a connection that waits')));
    return socket;
  }

  #take(answer: HttpAnswer): void {
    const { status, body, last } = answer;
    if (status !== 200 || !body.includes(this.#kind.good) || !body.includes(this.#uid)) {
      this.#target.failed(new Error(`HTTP ${status}: ${body.toString('utf8').slice(0, 500)}`));
      return;
    }
    this.#waiting = false;
    if (last || this.#target.mode === 'new') {
      const socket = this.#socket;
      this.#socket = undefined;
      socket?.destroy();
    }
    const ms = performance.now() - this.#sentAt;
    if (!this.#checked) this.#kind.check(this.#review, body.toString('utf8'), this.#wanted);
    this.#checked = true;
    this.#target.answered(this, ms);
  }

  #ended(socket: TLSSocket, error: Error): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    if (this.#waiting) this.#target.failed(error);
  }
}
