import { randomBytes } from 'node:crypto';
import { printable } from '../../text/printable.ts';
import { groupVersionString } from '../../k8s/resource.ts';
import { microTime, sleep, systemClock, type Clock } from '../client/clock.ts';
import type { KubeClient } from '../client/client.ts';
import { isNotFound } from '../client/errors.ts';
import { EVENTS, type KubeObject, type Resource } from '../client/resources.ts';
import { TokenBucket } from '../client/token-bucket.ts';
import { FairMemory, Lanes } from './fairness.ts';

/** The object that an Event is about. */
export interface Regarding {
  readonly resource: Resource;
  /** `''` for cluster-wide objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface EventDetails {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for programs: `WaitingForPods`. */
  readonly reason: string;
  /** CamelCase, the action taken or not taken: `ReleasingGates`. Default: the reason. */
  readonly action?: string;
  /** Text for people. Unprintable characters are replaced, and it is cut to the API's limit. */
  readonly note: string;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** Shown by `kubectl events` and `kubectl describe`. */
  readonly controller: string;
  /** The Pod that reports the Event. */
  readonly instance: string;
  readonly clock?: Clock;
  /** Whether more important writes are in progress. */
  readonly busy?: () => boolean;
  readonly observer?: {
    sent?(): void;
    dropped?(why: 'queue full' | 'failed', error?: unknown): void;
  };
  /** Long-term rate of Events per second, and burst; further Events wait. Default 20 and 200. */
  readonly rate?: { readonly qps: number; readonly burst: number };
}

/** The API's limit is 1024 bytes of UTF-8. */
const NOTE_BYTES = 1024;
/** The same Event repeated within this time (ms) increases the count of the first. */
const SAME_WITHIN = 10 * 60_000;
/** A count is written at most this often (ms). */
const COUNT_EVERY = 60_000;
/**
 * Memory limits: Events waiting to be sent, of one namespace and in total, and Events remembered for counting
 * repetitions.
 */
const MAX_WAITING_OF_NAMESPACE = 250;
const MAX_WAITING = 1_000;
const MAX_REMEMBERED = 4_096;
/** Timeout of a call (ms): Events are the least important writes and give way to all others. */
const TIMEOUT = 5_000;
/** How long an Event waits for the loop's writes, and the interval of the check (ms): 1,000 gates take three seconds. */
const PATIENCE = 10_000;
const LOOK_EVERY = 50;

interface Remembered {
  readonly regarding: Regarding;
  name: string | undefined;
  count: number;
  lastAt: number;
  writtenAt: number;
}

/**
 * Reports to people in Events what happens to their gang. It blocks nothing and never fails: Events that cannot be sent
 * are dropped and counted. The same Event about the same object is sent once and then counted in its `series`.
 * Namespaces take turns, so that one namespace's Events neither delay nor displace another's.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #budget: TokenBucket;
  readonly #remembered = new FairMemory<Remembered>(MAX_REMEMBERED);
  readonly #waiting = new Lanes<{ readonly since: number; readonly send: () => Promise<void> }>();
  #asked = 0;
  readonly #stop = new AbortController();
  #sending: Promise<void> | undefined;
  #closed = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#budget = new TokenBucket({ ...(options.rate ?? { qps: 20, burst: 200 }), clock: this.#clock });
  }

  /** Queues the Event, or drops it when the queue is full. Returns at once. */
  event(regarding: Regarding, details: EventDetails): void {
    if (this.#closed) return;
    const note = cutToBytes(printable(details.note, NOTE_BYTES), NOTE_BYTES);
    const key = [regarding.uid, details.type, details.reason, details.action ?? '', note].join('\u0000');
    const now = this.#clock.now();
    const lane = namespaceOf(regarding);
    const known = this.#remembered.get(lane, key);
    if (known !== undefined && now - known.lastAt < SAME_WITHIN) {
      this.#remembered.set(lane, key, known);
      known.count += 1;
      known.lastAt = now;
      if (known.name === undefined || now - known.writtenAt < COUNT_EVERY) return;
      this.#enqueue(known, now, () => this.#count(known));
      return;
    }
    this.#remembered.delete(lane, key);
    const fresh: Remembered = { regarding, name: undefined, count: 1, lastAt: now, writtenAt: now };
    if (!this.#enqueue(fresh, now, () => this.#create(fresh, { ...details, note }))) return;
    this.#remembered.set(lane, key, fresh);
  }

  /** Accepts no more Events, and sends the waiting ones for at most `withinMs`. */
  async stop(withinMs = 1_000): Promise<void> {
    this.#closed = true;
    const over = new AbortController();
    const patience = sleep(this.#clock, withinMs, over.signal).catch(() => undefined);
    await Promise.race([this.#sending, patience]);
    over.abort();
    this.#stop.abort(new Error('the recorder was stopped'));
  }

  #enqueue(event: Remembered, now: number, send: () => Promise<void>): boolean {
    const lane = namespaceOf(event.regarding);
    if (this.#waiting.size >= MAX_WAITING || this.#waiting.sizeOf(lane) >= MAX_WAITING_OF_NAMESPACE) {
      this.#options.observer?.dropped?.('queue full');
      return false;
    }
    event.writtenAt = now;
    this.#waiting.push(lane, String(this.#asked++), { since: now, send });
    this.#sending ??= this.#sendAll();
    return true;
  }

  /** Sends one Event at a time, so that a slow API server receives few. */
  async #sendAll(): Promise<void> {
    const { observer } = this.#options;
    while (this.#waiting.size > 0) {
      // The next Event is chosen after the wait: an Event that arrives during the wait may take its turn first.
      await this.#budget.take(this.#stop.signal).catch(() => undefined);
      const next = this.#waiting.next()?.value;
      if (next === undefined) break;
      try {
        await this.#giveWay(next.since);
        this.#stop.signal.throwIfAborted();
        await next.send();
        observer?.sent?.();
      } catch (error) {
        observer?.dropped?.('failed', error);
      }
    }
    this.#sending = undefined;
  }

  /** An Event costs the API server as much as a gate: it waits while gangs are being released, but not for ever. */
  async #giveWay(since: number): Promise<void> {
    const { busy = () => false } = this.#options;
    const { signal } = this.#stop;
    while (!this.#closed && busy() && this.#clock.now() - since < PATIENCE) {
      await sleep(this.#clock, LOOK_EVERY, signal).catch(() => undefined);
    }
  }

  async #create(event: Remembered, details: EventDetails): Promise<void> {
    const { client, controller, instance } = this.#options;
    const { resource, name, uid } = event.regarding;
    const namespace = namespaceOf(event.regarding);
    // A random suffix: a name built from the content would collide with an earlier Event's. A cut name may end in a
    // character that no part of a DNS name may end in.
    const eventName = `${name.slice(0, 230).replace(/[-.]+$/, '')}.${randomBytes(8).toString('hex')}`;
    const object: KubeObject & Record<string, unknown> = {
      metadata: { namespace, name: eventName },
      eventTime: microTime(this.#clock.date()),
      type: details.type,
      reason: details.reason.slice(0, 128),
      action: (details.action ?? details.reason).slice(0, 128),
      note: details.note,
      reportingController: controller,
      reportingInstance: instance.slice(0, 128),
      regarding: {
        apiVersion: groupVersionString(resource),
        kind: resource.kind,
        ...(resource.namespaced && { namespace }),
        name,
        uid,
      },
    };
    try {
      await client.create(EVENTS, object, { ...this.#call(), answer: 'metadata' });
    } catch (error) {
      // The Event was not sent: a repetition is a new Event and not the second of a series.
      event.lastAt = -Infinity;
      throw error;
    }
    event.name = eventName;
  }

  async #count(event: Remembered): Promise<void> {
    const { name, count, regarding } = event;
    if (name === undefined) return;
    const series = { count, lastObservedTime: microTime(this.#clock.date()) };
    const target = { resource: EVENTS, namespace: namespaceOf(regarding), name };
    try {
      await this.#options.client.mergePatch(target, { series }, { ...this.#call(), answer: 'metadata' });
    } catch (error) {
      // The API server forgets Events after an hour: the next repetition is a new Event.
      if (isNotFound(error)) event.lastAt = -Infinity;
      throw error;
    }
  }

  #call(): { signal: AbortSignal; timeoutMs: number } {
    return { signal: this.#stop.signal, timeoutMs: TIMEOUT };
  }
}

/** Events about cluster-wide objects are kept in the namespace `default`, as the API server requires. */
const namespaceOf = ({ resource, namespace }: Regarding): string =>
  resource.namespaced ? namespace : 'default';

/** `text`, cut between characters so that its UTF-8 has at most `bytes` bytes. */
function cutToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const room = bytes - Buffer.byteLength('…');
  let used = 0;
  let kept = '';
  for (const char of text) {
    used += Buffer.byteLength(char);
    if (used > room) break;
    kept += char;
  }
  return `${kept}…`;
}
