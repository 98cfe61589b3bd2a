import type { Body } from './reviews.ts';

/** What is sent, and what has to come back. */
export interface Sent {
  readonly body: Body;
  /** What leads to the Pod that every answer has to lead to; absent: the change of all others. */
  readonly patch?: readonly PatchOperation[];
}

/** What the load generator is told: who takes part, what they get, for how long. As JSON in its only argument. */
export interface Contest extends Sent {
  readonly contenders: readonly Contender[];
  /** File with the CA of the servers' certificate. */
  readonly caFile: string;
  /** Connections at a time to each. Closed loop: each sends its next review when it has the answer to the last. */
  readonly connections: number;
  /** `keep`: connections stay. `new`: each review comes over a connection of its own, full TLS 1.3 handshake. */
  readonly mode: 'keep' | 'new';
  /** Server's CPU time of the same load before the first round: both sides get warm, nothing is counted. */
  readonly warmUpMs: number;
  /** In each everybody has a slice; who begins changes from round to round. */
  readonly rounds: number;
  /** CPU time that a slice should take of its server: from it follows how many reviews are in one. */
  readonly sliceMs: number;
  /** Or so many reviews in each slice. */
  readonly reviews?: number;
}

/** An operation of a JSON patch that adds or replaces. */
export interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

export interface Contender {
  readonly name: string;
  /** On 127.0.0.1. */
  readonly port: number;
  readonly pid: number;
  /** Takes part in every so many rounds: who is many times slower needs no fine figure. */
  readonly every: number;
  /** What it gets in place of what the others get. */
  readonly own?: Sent;
}

/** One turn of one contender. */
export interface Slice {
  readonly round: number;
  readonly reviews: number;
  /** From the first byte sent to the last answer, milliseconds. */
  readonly ms: number;
  /** CPU of the server per review in microseconds, with what it still did of it before its next turn. */
  readonly cpuMicros: number;
  /** Milliseconds from the first byte written to the answer read; in mode `new` from before the handshake. */
  readonly p50: number;
}

/** What the load generator prints as JSON. */
export interface ContestResult {
  readonly slices: Readonly<Record<string, readonly Slice[]>>;
  /**
   * p99 of the reviews of five turns together, in milliseconds as in {@link Slice.p50}. One pause makes up all of a single turn's
   * p99, since sixteen of its 1,500 reviews wait for it.
   */
  readonly p99s: Readonly<Record<string, readonly number[]>>;
  /** MiB at the end. */
  readonly rss: Readonly<Record<string, number>>;
}
