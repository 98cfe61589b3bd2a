import type { DefaultedDocument } from './schema.ts';

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** A scheduler that Muster supports, with the settings of its backend. */
export interface SchedulerProfile {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The module of the backend, as written; absent for built-in backends. */
  readonly module?: string;
  /** Hash of the module's file, `sha512-…` or `sha256-…`. */
  readonly integrity?: string;
}

/** Profiles of either spelling of the document; `default-scheduler` is always among them. */
export interface Schedulers {
  readonly profiles: readonly SchedulerProfile[];
  /** Name of one of the profiles. */
  readonly defaultProfileName: string;
}

/** Settings of leader election, with durations in milliseconds. */
export interface LeaderElection {
  readonly enabled: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceLock: 'leases';
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

type Plain = 'apiVersion' | 'kind' | 'metadata' | 'schedulerName' | 'scheduler' | 'leaderElection';

/**
 * The configuration Muster runs with: every default filled in, aliases and short forms resolved, rules
 * checked. Field by field as in docs/configuration.md, apart from {@link Schedulers} and
 * {@link LeaderElection}. An empty `bindAddress` means every address.
 */
export type OperatorConfiguration = DeepReadonly<Omit<DefaultedDocument, Plain>> & {
  readonly schedulers: Schedulers;
  readonly leaderElection: LeaderElection;
};
