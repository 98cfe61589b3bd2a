// A good client, a process of its own: reviews at an even pace, as an API server sends them. It keeps connections and takes
// the one that was used last; one review in twenty comes over a new one; 503 with Retry-After is sent again within 5 s.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, createSecureContext, type TLSSocket } from 'node:tls';
import { HttpAnswers, type HttpAnswer } from '../../admission/http-answers.ts';
import { bodyOf, reviewOf } from '../../admission/reviews.ts';
import { requestOf } from './attack.ts';
import type { Job, Order, Report } from './messages.ts';

const PER_SECOND = 400;
const NEW_EVERY = 20;
/** An API server keeps so many idle connections to a host. */
const KEPT = 25;
const TIMEOUT_MS = 5_000;
const RETRY_MS = 1_000;

const { port, caFile } = JSON.parse(process.argv[2] ?? '') as Job;
const secureContext = createSecureContext({ ca: readFileSync(caFile), minVersion: 'TLSv1.3' });
const request = requestOf(JSON.stringify(reviewOf(bodyOf(8))));
const idle: Line[] = [];

/** One connection, and the review that it waits for. */
class Line {
  readonly #socket: TLSSocket;
  readonly #answers = new HttpAnswers();
  #done: ((answer: HttpAnswer | Error) => void) | undefined;

  constructor() {
    this.#socket = connect({ host: '127.0.0.1', port, servername: 'localhost', secureContext });
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => {
      const answer = this.#answers.push(chunk);
      if (answer !== undefined) this.#end(answer);
    });
    this.#socket.on('error', (error) => this.close(error));
    this.#socket.on('close', () => this.close(new Error('closed before an answer')));
  }

  /** Never rejects: what went wrong is the answer. */
  send(withinMs: number): Promise<HttpAnswer | Error> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.close(new Error('no answer in time')), withinMs);
      this.#done = (answer) => {
        clearTimeout(timer);
        resolve(answer);
      };
      this.#socket.write(request);
    });
  }

  close(why: Error): void {
    const at = idle.indexOf(this);
    if (at >= 0) idle.splice(at, 1);
    this.#socket.destroy();
    this.#end(why);
  }

  #end(answer: HttpAnswer | Error): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(answer);
  }
}

/** @returns why it failed, where it did */
async function admit(fresh: boolean): Promise<string | undefined> {
  const until = performance.now() + TIMEOUT_MS;
  for (let line = fresh ? new Line() : (idle.pop() ?? new Line()); ; line = new Line()) {
    const answer = await line.send(Math.max(1, until - performance.now()));
    if (answer instanceof Error) return answer.message;
    if (answer.last || idle.length >= KEPT) line.close(new Error('not needed any more'));
    else idle.push(line);
    if (answer.status === 200) return undefined;
    if (answer.status !== 503 || performance.now() + RETRY_MS > until) return `HTTP ${answer.status}`;
    await delay(RETRY_MS);
  }
}

async function run(ms: number): Promise<Report> {
  const waits: number[][] = [];
  const failed: string[] = [];
  const open: Promise<void>[] = [];
  const since = performance.now();
  for (let count = 0; performance.now() - since < ms; count += 1) {
    const due = since + (count * 1000) / PER_SECOND;
    if (due > performance.now()) await delay(Math.max(0, due - performance.now()));
    const started = performance.now();
    open.push(
      admit(count % NEW_EVERY === 0).then((why) => {
        if (why === undefined)
          (waits[Math.floor((started - since) / 1000)] ??= []).push(performance.now() - started);
        else failed.push(why);
      }),
    );
  }
  await Promise.all(open);
  return { waits: waits.filter(({ length }) => length > 0), failed };
}

process.on(
  'message',
  (order: Exclude<Order, string>) => void run(order.ms).then((report) => process.send?.(report)),
);
