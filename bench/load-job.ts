import type { Size } from './reviews.ts';

/** What one run of the load generator does. */
export interface LoadJob {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** File with the CA of the servers' certificate. */
  readonly caFile: string;
  /** KiB of a review. */
  readonly size: Size;
  /** Connections at a time. Closed loop: each sends its next review when it has the answer to the last. */
  readonly connections: number;
  /** `keep`: connections stay. `new`: each review comes over a connection of its own, full TLS 1.3 handshake. */
  readonly mode: 'keep' | 'new';
  /** Milliseconds of the same load before the measured window: both sides get warm, nothing is counted. */
  readonly rampMs: number;
  /** The measured window ends after so many milliseconds or so many reviews. */
  readonly window: { readonly ms: number } | { readonly reviews: number };
  /** Whose CPU and memory are measured. */
  readonly serverPid: number;
  /** Core that the server alone should have; undefined where nothing is pinned. */
  readonly serverCore?: number;
}

/** What it saw, over the measured window. */
export interface LoadResult {
  readonly reviews: number;
  readonly perSecond: number;
  /** CPU of the server per review, in microseconds. */
  readonly cpuMicros: number;
  /** Milliseconds from the first byte written to the answer read; in mode `new` from before the handshake. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Of the server, at the end of the window. */
  readonly rssMiB: number;
  /** Share of the server's core that others used: above a few percent, times are too long. NaN where not pinned. */
  readonly others: number;
  /** Share of the generator's turns that had an answer to deal with: near 1, it and not the server was measured. */
  readonly client: number;
  /** Connections that the server asked to end. */
  readonly reconnects: number;
}
