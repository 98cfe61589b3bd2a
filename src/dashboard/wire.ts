import type { GangPhase } from '../gang/plan/conditions.ts';
import type { GangStatus } from '../status/gang-status.ts';
import type { Variant } from '../preemption/variants.ts';
import type { ReadyCount } from '../status/gang-counts.ts';
import type { TopReason } from '../status/top.ts';
import type { LifeStep } from '../timeline/step.ts';
import type { Timeline } from '../timeline/timeline.ts';

/** The JSON of `/api/v1`. Fields are added in a version, never changed or taken away. */

/** A gang in a list. */
export interface GangRow {
  readonly namespace: string;
  readonly name: string;
  /** `job/train`, where Muster made the gang for a workload. */
  readonly workload: string | null;
  readonly backend: string;
  /** null where Pods name a PodGang that does not exist. */
  readonly phase: GangPhase | null;
  /** Why it is not Running; '' when it is. */
  readonly why: string;
  readonly groups: ReadyCount | null;
  readonly pods: ReadyCount | null;
  /** Pods that still have Muster's gate. */
  readonly gated: number;
  /** GPUs that these ask for, where the gang waits and counts on them. */
  readonly gatedGpus: number;
  /** What the gang waits for, as `muster top -o json` says it; null where it waits for nothing. */
  readonly waitsFor: TopReason | null;
  /** The queue of its scheduler that the PodGang names; null where it names none. */
  readonly queue: string | null;
  readonly created: string | null;
}

/** Since when the API server does not answer, and how it fails; what is shown may be outdated then. */
export interface StaleSince {
  readonly since: string;
  readonly message: string;
}

/** `GET /api/v1/gangs` */
export interface GangsAnswer extends Narrowed {
  readonly gangs: readonly GangRow[];
  readonly stale: StaleSince | null;
}

interface Narrowed {
  /** In a cluster: the rights that gangs of other namespaces take; absent where all are shown. */
  readonly narrowed?: string;
}

/** A message of `GET /api/v1/gangs?watch=true`; the first ones bring the gangs that there are. */
export interface GangChanges extends Narrowed {
  readonly changed: readonly GangRow[];
  readonly deleted: readonly { readonly namespace: string; readonly name: string }[];
  /** Gangs of which further messages tell at once. */
  readonly left: number;
  readonly stale: StaleSince | null;
}

/** An Event of a gang, of one of its Pods, or of an object of its scheduler. */
export interface GangEvent {
  /** The last time that it was reported. */
  readonly at: string;
  /** `Pod/train-0` */
  readonly of: string;
  readonly warning: boolean;
  readonly reason: string;
  readonly note: string;
  readonly count: number;
}

/** An object that Muster keeps for the gang's scheduler, and what the scheduler says of it. */
export interface SchedulerObject {
  readonly kind: string;
  readonly name: string;
  readonly created: string | null;
  readonly phase: string;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

/** `GET /api/v1/gangs/NAMESPACE/NAME` */
export interface GangDetail {
  readonly gang: GangStatus;
  readonly timeline: {
    readonly steps: readonly LifeStep[];
    readonly waiting: Timeline['waiting'] | null;
    /** What is not known any more, or could not be read. */
    readonly unknown: readonly string[];
    readonly svg: string;
  };
  readonly objects: readonly SchedulerObject[];
  /** The newest first. */
  readonly events: readonly GangEvent[];
  /** Older Events that are left out. */
  readonly eventsLeft: number;
  /** Why they are not known, such as a right that is missing; null where they are. */
  readonly eventsUnread: string | null;
}

/** A unit that a plan preempts: a Pod, or a gang of which all Pods go together. */
export interface PlannedUnit {
  readonly unit: string;
  readonly namespace: string;
  readonly name: string;
  readonly priority: number;
  readonly pods: readonly string[];
  readonly violatesPDB: boolean;
  readonly why: string;
}

/** What the page shows of `muster plan -o json`; the answer has all of that. */
export interface PlannedGang {
  readonly variant: Variant;
  readonly fits: boolean;
  readonly feasible: boolean;
  /** Node by `namespace/name` of the Pod. */
  readonly placement: Readonly<Record<string, string>>;
  readonly victims: readonly PlannedUnit[];
  /** Pods on their way out that the gang would wait for. */
  readonly awaited: readonly string[];
  readonly rejected: readonly { readonly node: string; readonly message: string }[];
  /** The largest gang of this shape that fits now: Pods by group. */
  readonly largest?: Readonly<Record<string, number>>;
  readonly warnings?: readonly string[];
}

/** `GET /api/v1/gangs/NAMESPACE/NAME/plan`, by `?variant=` as by `muster plan --variant`, and with a change by `?minimum=GROUP=N` */
export interface PlanAnswer {
  /** When the cluster was read. */
  readonly at: string;
  /** Whether the gang fits, who would have to make room, or why nothing helps: one sentence without its full stop. */
  readonly says: string;
  /** null where there is nothing to plan. */
  readonly plan: PlannedGang | null;
}

/** Any answer but 200. */
export interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string; readonly fix: string };
}
