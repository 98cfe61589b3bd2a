import type { Fault } from '../api/fault.ts';
import type { PodController } from '../api/pod-origin.ts';
import type { HostRange } from '../api/host-ranges.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { FleetTerms, TemplateKind } from './workload-kind.ts';
import type { WorkloadReading } from './workload-reading.ts';

/**
 * Everything that Muster knows about one kind of workload. Each kind is one file of `kinds/` and one line of the registry
 * ({@link kinds}). Rights, webhook rules, tables of the documentation and the answers to Karmada are made from it.
 */
export interface Kind extends TemplateKind {
  /** Plural resource name, such as `jobs`. */
  readonly plural: string;
  /** Set when objects of the kind have no namespace. */
  readonly clusterScoped?: true;
  /** Objects that the kind's controller creates, when these control the Pods; the first controls most of the Pods. */
  readonly children?: readonly Child[];
  /** Host name that the kind's controller gives to the first Pod of the template at `path`. */
  readonly hostOf?: (workload: JsonObject, path: string) => Host | undefined;
  /** How Pods of the kind form gangs by the label `muster.dev/gang`; `never`: they cannot form one. */
  readonly gang?: GangTerms | 'never';
  /** Facts for fleets of several clusters. Absent: Karmada does not ask Muster about the kind. */
  readonly fleet?: FleetTerms;
}

/** A kind whose Pods may form gangs, with its GangTerms at the top level. */
export type GangKind = Omit<Kind, 'gang' | 'fleet'> & GangTerms;

/** An object that a workload's controller creates. */
export interface Child {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** End of the object's name, after the workload's name; a placeholder when it is unpredictable. */
  readonly suffix: string;
  /** Path of the object's spec in the workload; with `template`, path of a Job's Pod template. */
  readonly spec: string;
  readonly template?: true;
}

export interface Host {
  readonly hostname: string;
  readonly subdomain?: string | undefined;
}

/** Metadata of a Pod from which Muster derives the gang of the Pod. */
export interface PodMarks {
  label(key: string): string | undefined;
  annotation(key: string): string | undefined;
  readonly name: string | undefined;
  readonly controller: PodController | undefined;
}

/** Result of reading a Pod's labels: its workload and group, or why they are unknown. */
export type PodReading =
  | {
      readonly name: string;
      readonly uid?: string | undefined;
      readonly group: string;
      readonly part?: string;
    }
  /** A label that another webhook has still to add. */
  | { readonly late: string }
  /** A label that contradicts the owner reference. */
  | { readonly differs: string };

/** Metadata that a kind's controller gives a Pod, for previews and tests. */
export interface MadePod {
  readonly labels: Readonly<Record<string, string>>;
  readonly controller: Omit<PodController, 'uid'>;
  readonly name?: string;
}

/** A field that makes some Pods of a gang wait for others, and how to change it. */
export interface OrderedStart {
  readonly field: string;
  readonly value: Json | undefined;
  readonly advice: string;
}

/** How the Pods of a workload are replaced when its template changes. A fault: in a way that blocks a gang for ever. */
export type Replacement = 'together' | 'by hand' | Fault;

/** Numbers of a group by which its Pods are called. */
export interface HostedGroup {
  readonly name: string;
  readonly replicas: number;
  /** Pods of each object by which the template is counted, such as those of one Job of a JobSet. */
  readonly each?: number | undefined;
}

/** How Pods of a kind show their gang and group, and the numbers of these gangs. */
export interface GangTerms {
  /** Beginning of the names of the kind's gangs, and the kind's name in messages: lower-case letters and digits. */
  readonly short: string;
  /** API version to use when the API server does not serve `version`, since operators of the same kind differ in it. */
  readonly otherVersion?: string;
  /** Set for a kind from the configuration, for which the manifests contain no rights. */
  readonly configured?: true;
  /** Group and kind of the objects that may control Pods of the kind, such as `batch/Job`. */
  readonly controllers: readonly string[];
  /**
   * Label that distinguishes its Pods from other Pods of the same controller. Absent: all Pods that no other kind claims.
   */
  readonly marked?: string;
  readonly read: (pod: PodMarks, controller: PodController) => PodReading;
  readonly mark: (workload: string, group: string, part: string | undefined) => MadePod;
  /** Whether a part of a workload has a single group, with the part's name. Absent: each part has all groups. */
  readonly partIsGroup?: true;
  /** Host names of a group's Pods, by which an HPCPolicy can prepare them before their gang is made. Absent: unpredictable. */
  readonly hosts?: (workload: string, group: HostedGroup, part: string | undefined) => readonly HostRange[];
  /** Pods of a group in one gang, when that is not the template's count. */
  readonly pods?: (group: string, told: number, reading: WorkloadReading) => number;
  /** How many of these Pods must start together. Absent: all. */
  readonly minimum?: (group: string, pods: number, reading: WorkloadReading) => number;
  /** Number of gangs of a workload that has several, numbered from 0. */
  readonly gangs?: (reading: WorkloadReading) => number;
  /** Pods that a gang still has to start, when some of the work may be done already. */
  readonly left?: (told: number, reading: WorkloadReading) => number;
  /** Pods of a group that have to succeed in total. Absent: as many as run at a time. */
  readonly completions?: (group: string, reading: WorkloadReading) => number;
  /** Path of a field that suspends the workload, besides `spec.suspend`. */
  readonly suspend?: string;
  /** Path of the phase in the workload's status, and the phases of success. Absent: only conditions show how it ended. */
  readonly phase?: { readonly path: string; readonly succeeded: readonly string[] };
  /** Fields that make some Pods of a gang wait until others are ready or have nodes, besides `oneByOne` of its templates. */
  readonly orderedStart?: (workload: JsonObject) => readonly OrderedStart[];
  /** How a workload's Pods are replaced. Absent: by hand. @param pods number of Pods of the first template */
  readonly replaces?: (workload: JsonObject, pods: number) => Replacement;
  /** Warnings of `muster review` and of admission for a valid workload. */
  readonly warnings?: (workload: JsonObject) => readonly FieldWarning[];
}

/** A field of a workload with a warning about it. */
export interface FieldWarning {
  readonly field: string;
  readonly message: string;
}
