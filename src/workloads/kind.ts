import type { Fault } from '../api/fault.ts';
import type { PodController } from '../api/pod-origin.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { FleetTerms, TemplateKind } from './workload-kind.ts';
import type { WorkloadReading } from './workload-reading.ts';

/**
 * All that Muster knows of one kind of workload. Each is one file of `kinds/` and one line of the registry
 * ({@link kinds}); rights, webhook rules, the tables of the documentation and what fleets are told are made from it.
 */
export interface Kind extends TemplateKind {
  /** The resource: `jobs`. */
  readonly plural: string;
  /** Its objects have no namespace. */
  readonly clusterScoped?: true;
  /** What its controller makes of it, where that controls the Pods; the first controls most of them. */
  readonly children?: readonly Child[];
  /** The host name that its controller gives to the first Pod of the template at `path`. */
  readonly hostOf?: (workload: JsonObject, path: string) => Host | undefined;
  /** How its Pods are a gang by the label `muster.dev/gang`; `never`: it controls Pods that cannot be one. */
  readonly gang?: GangTerms | 'never';
  /** What several clusters are told of it; absent: Karmada does not ask. */
  readonly fleet?: FleetTerms;
}

/** A kind that controls Pods of gangs, as those see it who place Pods. */
export type GangKind = Omit<Kind, 'gang' | 'fleet'> & GangTerms;

/** An object that a controller makes of a workload. */
export interface Child {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Of its name; what is not known yet is taken for known. */
  readonly suffix: string;
  /** Where its spec stands; of a Job, `template` where nothing but its Pod template does. */
  readonly spec: string;
  readonly template?: true;
}

export interface Host {
  readonly hostname: string;
  readonly subdomain?: string | undefined;
}

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

/** A field by which some Pods of a gang wait for others of it, and what to do about it. */
export interface OrderedStart {
  readonly field: string;
  readonly value: Json | undefined;
  readonly advice: string;
}

/** How the Pods of a workload are replaced when its template changes. A fault: in a way that stops a gang for ever. */
export type Replacement = 'together' | 'by hand' | Fault;

/** How the Pods of one kind of workload tell which gang and group they are of, and what their gangs are. */
export interface GangTerms {
  /** As the names of its gangs begin, and as people call it: lower-case letters and digits. */
  readonly short: string;
  /** In which it is served where the API server does not have `version`: operators of a kind differ in it. */
  readonly otherVersion?: string;
  /** Told of in the configuration: no right of the manifests is for it. */
  readonly configured?: true;
  /** Who may control its Pods: `batch/Job`. */
  readonly controllers: readonly string[];
  /** The label by which its Pods are told from others of the same controller. Absent: all the rest are its own. */
  readonly marked?: string;
  readonly read: (pod: PodMarks, controller: PodController) => PodReading;
  readonly mark: (workload: string, group: string, part: string | undefined) => MadePod;
  /** A part of a workload has the one group of its name; absent: where there are parts, each has all groups. */
  readonly partIsGroup?: true;
  /** How many Pods a group of one gang has, where that is not what its templates count. */
  readonly pods?: (group: string, told: number, reading: WorkloadReading) => number;
  /** How many of these must start together, where that is not all. */
  readonly minimum?: (group: string, pods: number, reading: WorkloadReading) => number;
  /** Of a workload that is many gangs, one for each number below this: how many. */
  readonly gangs?: (reading: WorkloadReading) => number;
  /** The same as `pods` for a gang that is still to form, where some of the work may be done already. */
  readonly left?: (told: number, reading: WorkloadReading) => number;
  /** How many Pods of a group are to succeed in all, where that is not as many as run at a time. */
  readonly completions?: (group: string, reading: WorkloadReading) => number;
  /** Where it is suspended, beside `spec.suspend`. */
  readonly suspend?: string;
  /** Where its status has the phase that says how it ended, and those of success; absent: conditions say it. */
  readonly phase?: { readonly path: string; readonly succeeded: readonly string[] };
  /** What makes some Pods of a gang only once others are ready or have nodes, beside `oneByOne` of its templates. */
  readonly orderedStart?: (workload: JsonObject) => readonly OrderedStart[];
  /** Absent: by hand. @param pods of its first template */
  readonly replaces?: (workload: JsonObject, pods: number) => Replacement;
  /** What `review` and admission say of a workload that is let in. */
  readonly warnings?: (workload: JsonObject) => readonly FieldWarning[];
}

/** A field of the workload, and what is said of it. */
export interface FieldWarning {
  readonly field: string;
  readonly message: string;
}
