import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const PROGRAMS = ['kube-apiserver', 'etcd', 'kube-scheduler', 'kwok', 'muster'] as const;
export type Program = (typeof PROGRAMS)[number];
export type PerProgram = Readonly<Partial<Record<Program, number>>>;

/** What happened while a tenth of the Pods were bound. Times in milliseconds, null where nothing was measured. */
export interface Step {
  /** Pods that are bound at its end. */
  readonly pods: number;
  readonly seconds: number;
  /** From complete to the last gate off. */
  readonly releaseP50: number | null;
  readonly releaseP99: number | null;
  /** From complete to the last Pod bound. */
  readonly boundP50: number | null;
  readonly boundP99: number | null;
  /** Milliseconds of CPU a Pod. */
  readonly cpu: PerProgram;
  /** MiB, the most within the step. */
  readonly memory: PerProgram;
  /** Calls of Muster's loop a gang. */
  readonly calls: number | null;
}

export interface ContenderRun {
  /** Of all tenths that were measured. */
  readonly seconds: number;
  /** Pods that were bound when it ended, with those of a tenth that was not measured to its end. */
  readonly bound: number;
  /** Why it ended before all of its Pods were bound; absent: all were. */
  readonly ended?: string;
  /** MiB of what etcd keeps, without what was overwritten where the run has ended by itself. */
  readonly etcd: number;
  /** Writes that the API server was asked for by anybody, a gang, by verb and resource. */
  readonly writes: Readonly<Record<string, number>>;
  /** Watches of Pods that the API server ended because whoever watched read too slowly. */
  readonly watchesEnded: number;
  /** Creations that were refused or not answered, and tried again. */
  readonly failed: number;
  /** Pods that were bound before the last gate of their gang was off. */
  readonly early: number;
  readonly steps: readonly Step[];
}

/** What `npm run bench -- cluster` writes: the tables and the picture of docs/scale.md are made from it. */
export interface ClusterResults {
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly kubernetes: string;
  readonly machine: string;
  /** Processors that computed for somebody else when it began. */
  readonly elsewhere: number;
  readonly pods: number;
  readonly nodes: number;
  readonly ahead: number;
  readonly alone: ContenderRun;
  readonly muster: ContenderRun;
}

/** Of a contender that has not measured anything yet. */
export const nothingMeasured = (ended: string): ContenderRun => ({
  ...{ seconds: 0, bound: 0, ended, etcd: 0, writes: {}, watchesEnded: 0, failed: 0, early: 0, steps: [] },
});

/** Whoever ends the bench while this is written finds what was written before. */
export function keepResults(file: string, results: ClusterResults): void {
  const unfinished = `${file}.part`;
  writeFileSync(unfinished, `${JSON.stringify(results)}\n`);
  renameSync(unfinished, file);
}

/** The run whose figures are in docs/scale.md. */
export const CLUSTER_RECORD = join(import.meta.dirname, 'recorded.json');
export const readCluster = (file = CLUSTER_RECORD): ClusterResults =>
  JSON.parse(readFileSync(file, 'utf8')) as ClusterResults;
