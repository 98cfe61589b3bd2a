import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, reviewOf } from '../admission/reviews.ts';
import type { RunningServer, Scratch } from '../admission/servers.ts';

/** Milliseconds between an answer and the next review: their load is small beside that of a list. */
const PAUSE_MS = 5;

/**
 * Sends reviews of 8 KiB one by one while a Muster does something else. Their Pods are in no gang: what they wait for is
 * Muster's thread, and not the API server, which would be asked for a gang that is not listed yet.
 */
export class ReviewsMeanwhile {
  /** Milliseconds that each took, as the API server would see it. */
  readonly waits: number[] = [];
  #over = false;
  #sending: Promise<void> = Promise.resolve();

  begin({ port }: Pick<RunningServer, 'port'>, { caFile }: Pick<Scratch, 'caFile'>): void {
    const review = reviewOf(bodyOf(8)) as { request: { object: { metadata: { labels?: unknown } } } };
    delete review.request.object.metadata.labels;
    const body = JSON.stringify(review);
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(caFile) });
    const send = async (): Promise<void> => {
      while (!this.#over) {
        const since = performance.now();
        await ask(agent, port, body);
        this.waits.push(performance.now() - since);
        await delay(PAUSE_MS);
      }
      agent.destroy();
    };
    this.#sending = send();
    this.#sending.catch(() => undefined);
  }

  /** @throws what went wrong with a review */
  async end(): Promise<void> {
    this.#over = true;
    await this.#sending;
  }
}

/** @throws an answer that is no decision */
async function ask(agent: Agent, port: number, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const to = { host: '127.0.0.1', servername: 'localhost', port, path: '/mutate-v1-pod?timeout=5s' };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ agent, method: 'POST', headers, ...to }, resolve)
      .once('error', reject)
      .end(body);
  });
  const said = await text(answer);
  if (answer.statusCode !== 200 || !said.includes('"allowed":true'))
    throw new Error(`a review: HTTP ${answer.statusCode}: ${said.slice(0, 500)}`);
}
