import type { PodController } from '../api/pod-origin.ts';
import type { WorkloadKind } from './workload-kind.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** What a Pod says of itself. */
export interface PodMarks {
  label(key: string): string | undefined;
  annotation(key: string): string | undefined;
  readonly name: string | undefined;
  readonly controller: PodController | undefined;
}

/** What the labels of a Pod say, beside who controls it. */
export type PodReading =
  | {
      readonly name: string;
      readonly uid?: string | undefined;
      readonly group: string;
      readonly part?: string;
    }
  /** A label that another webhook still adds. */
  | { readonly late: string }
  /** A label that says something else than the owner reference. */
  | { readonly differs: string };

/** How the controller of a kind marks a Pod: for previews and for tests. */
export interface MadePod {
  readonly labels: Readonly<Record<string, string>>;
  readonly controller: Omit<PodController, 'uid'>;
  readonly name?: string;
}

/** How the Pods of one kind of workload tell which gang and group they are of. */
export interface GangKind {
  /** As the names of its gangs begin, and as people call it: lower-case letters and digits. */
  readonly short: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** In which it is served where the API server does not have that: operators of a kind differ in it. */
  readonly otherVersion?: string;
  readonly kind: string;
  readonly plural: string;
  /** Whose templates and numbers count, where its own row of the table has none. */
  readonly countsAs?: string;
  /** Where its templates and numbers stand; absent: where the table of workloads says. */
  readonly row?: WorkloadKind;
  /** Who may control its Pods: `batch/Job`. */
  readonly controllers: readonly string[];
  /** The label by which its Pods are told from others of the same controller. Absent: all the rest are its own. */
  readonly marked?: string;
  readonly read: (pod: PodMarks, controller: PodController) => PodReading;
  readonly mark: (workload: string, group: string, part: string | undefined) => MadePod;
  /** A part of a workload has the one group of its name; absent: where there are parts, each has all groups. */
  readonly partIsGroup?: true;
  /** How many Pods a group of one gang has, where that is not what the table of workloads counts. */
  readonly pods?: (group: string, told: number, reading: WorkloadReading) => number;
  /** Of a workload that is many gangs, one for each number below this: how many. */
  readonly gangs?: (reading: WorkloadReading) => number;
  /** The same as `pods` for a gang that is still to form, where some of the work may be done already. */
  readonly left?: (told: number, reading: WorkloadReading) => number;
  /** How many Pods of a group are to succeed in all, where that is not as many as run at a time. */
  readonly completions?: (group: string, reading: WorkloadReading) => number;
}
