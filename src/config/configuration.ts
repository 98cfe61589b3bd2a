import type { DefaultedDocument } from './schema.ts';

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** One scheduler that Muster serves, and what its backend is told. */
export interface SchedulerProfile {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Where its backend comes from, as written; absent for those that come with Muster. */
  readonly module?: string;
  /** `sha512-…` or `sha256-…` of the module's file. */
  readonly integrity?: string;
}

/** Both spellings of the document, brought to one. `default-scheduler` is always among the profiles. */
export interface Schedulers {
  readonly profiles: readonly SchedulerProfile[];
  /** Name of one of the profiles. */
  readonly defaultProfileName: string;
}

/** Durations in milliseconds. */
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
