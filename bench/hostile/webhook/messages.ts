/** What the processes of this bench are started with, as JSON in their only argument. */
export interface Job {
  readonly port: number;
  /** File with the CA of the server’s certificate. */
  readonly caFile: string;
  /** Of the attacker: which attack. */
  readonly attack?: string;
}

/** What they are told: to go on for so long, or to begin and to end. They answer each with one message. */
export type Order = { readonly ms: number } | 'begin' | 'end';

/** What the good client answers. */
export interface Report {
  /** Milliseconds that each answered review took, new sendings included, a list for each second in which they began. */
  readonly waits: readonly number[][];
  /** Why each of those failed that did. */
  readonly failed: readonly string[];
}
