// The load generator, a process of its own so that it can have a core of its own. It takes a job as JSON in its only
// argument and prints the result as JSON. Any wrong answer ends it with exit code 1.
import { readFileSync } from 'node:fs';
import { connect, createSecureContext, type TLSSocket } from 'node:tls';
import { checkAnswer } from './answer.ts';
import { Histogram } from './histogram.ts';
import { HttpAnswers, type HttpAnswer } from './http-answers.ts';
import type { LoadJob, LoadResult } from './load-job.ts';
import { busyMicrosOfCore, cpuMicrosOf, rssMiBOf } from './process-usage.ts';
import { reviewOf } from './reviews.ts';

const ALLOWED = Buffer.from('"allowed":true');

const job = JSON.parse(process.argv[2] ?? '') as LoadJob;
const tls = {
  host: '127.0.0.1',
  port: job.port,
  servername: 'localhost',
  ALPNProtocols: ['http/1.1'],
  // The suite that a Go client and a Go server agree on, so that all three servers encrypt with the same.
  secureContext: createSecureContext({
    ca: readFileSync(job.caFile),
    minVersion: 'TLSv1.3',
    ciphers: 'TLS_AES_128_GCM_SHA256',
  }),
};

const histogram = new Histogram();
let measuring = false;
let finished = false;
/** A window by time has at least one review per connection too: of the largest ones few fit in a short window. */
const least = 'reviews' in job.window ? job.window.reviews : job.connections;
let timeUp = true;
let reviews = 0;
let reconnects = 0;
/** Answers of any kind, counted from the start. */
let answersSeen = 0;
let finish = (): void => undefined;

/** One of the closed loops: a review, its answer, the next review. */
function startLoop(variant: number): void {
  const review = reviewOf(job.size, variant);
  const body = JSON.stringify(review);
  const uid = Buffer.from((review['request'] as { uid: string }).uid);
  const request = Buffer.from(
    `POST /mutate-v1-pod?timeout=5s HTTP/1.1\r\nHost: localhost:${job.port}\r\n` +
      `User-Agent: kube-apiserver-admission\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Accept: application/json, */*\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n` +
      `${job.mode === 'new' ? 'Connection: close\r\n' : ''}\r\n${body}`,
  );
  let checked = false;
  let sentAt = 0;

  const onAnswer = (answer: HttpAnswer): void => {
    answersSeen += 1;
    if (answer.status !== 200 || !answer.body.includes(ALLOWED) || !answer.body.includes(uid)) {
      throw new Error(`HTTP ${answer.status}: ${answer.body.toString('utf8').slice(0, 500)}`);
    }
    if (!checked) checkAnswer(review, answer.body.toString('utf8'));
    checked = true;
    if (!measuring) return;
    histogram.add(performance.now() - sentAt);
    reviews += 1;
    if (timeUp && reviews >= least) finish();
  };

  const open = (): void => {
    const answers = new HttpAnswers();
    if (job.mode === 'new') sentAt = performance.now();
    let done = false;
    const send = (): void => {
      if (job.mode === 'keep') sentAt = performance.now();
      socket.write(request);
    };
    const again = (): void => {
      done = true;
      socket.destroy();
      if (!finished) open();
    };
    const socket: TLSSocket = connect(tls, send);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      const answer = answers.push(chunk);
      if (answer === undefined || finished) return;
      onAnswer(answer);
      if (finished) return;
      if (job.mode === 'new') again();
      else if (answer.last) {
        reconnects += 1;
        again();
      } else send();
    });
    socket.on('error', (error) => {
      if (!finished && !done) throw error;
    });
    socket.on('close', () => {
      if (!finished && !done) throw new Error('the server closed a connection that waits for an answer');
    });
  };
  open();
}

/** Turns of the event loop since the last reset, and those of them in which no answer came. */
const turns = { all: 0, idle: 0, answersBefore: 0 };

/**
 * Keeps the generator from ever falling asleep. A client that sleeps has to be woken by whoever answers it, with an
 * interrupt to the other core that is charged to the server: some 8 µs a review here, and only to servers that are slow
 * enough for the client to run out of work.
 */
function stayAwake(): void {
  turns.all += 1;
  if (turns.answersBefore === answersSeen) turns.idle += 1;
  turns.answersBefore = answersSeen;
  if (!finished) setImmediate(stayAwake);
}

async function measure(): Promise<LoadResult> {
  const { serverPid, serverCore, window } = job;
  const busy = (): number => (serverCore === undefined ? Number.NaN : busyMicrosOfCore(serverCore));
  stayAwake();
  for (let variant = 0; variant < job.connections; variant += 1) startLoop(variant);
  await new Promise((resolve) => setTimeout(resolve, job.rampMs));

  const before = { at: performance.now(), cpu: cpuMicrosOf(serverPid), busy: busy() };
  turns.all = 0;
  turns.idle = 0;
  measuring = true;
  await new Promise<void>((resolve) => {
    finish = resolve;
    if ('ms' in window) {
      timeUp = false;
      setTimeout(() => {
        timeUp = true;
        if (reviews >= job.connections) resolve();
      }, window.ms);
    }
  });
  measuring = false;
  const count = reviews;
  const micros = (performance.now() - before.at) * 1000;
  const cpu = cpuMicrosOf(serverPid) - before.cpu;
  const result = {
    reviews: count,
    perSecond: (count / micros) * 1_000_000,
    cpuMicros: cpu / count,
    p50: histogram.quantile(0.5),
    p99: histogram.quantile(0.99),
    max: histogram.max,
    rssMiB: rssMiBOf(serverPid),
    others: Math.max(0, busy() - before.busy - cpu) / micros,
    client: 1 - turns.idle / turns.all,
    reconnects,
  };
  finished = true;
  return result;
}

process.stdout.write(`${JSON.stringify(await measure())}\n`, () => process.exit(0));
