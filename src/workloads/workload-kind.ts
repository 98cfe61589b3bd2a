import type { JsonObject } from '../json/json.ts';
import type { Path } from './path.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** A number of Pods and the field that it comes from: Pods = field × `per`. */
export interface CountField {
  readonly path: Path;
  readonly per: number;
}

/** One Pod template of a workload, with how many Pods are made of it when all is well. */
export interface Template {
  /** As the workload calls it; '' where it has no name for it. */
  readonly name: string;
  /** Pod template, `{metadata, spec}`; undefined where the workload keeps it elsewhere or has left it out. */
  readonly template: JsonObject | undefined;
  /** Where it stands, for messages. */
  readonly path: Path;
  readonly replicas: number;
  /** How many of them must start together; undefined: all. */
  readonly minAvailable: number | undefined;
  /** Where the number of its Pods is written; undefined where it follows from something else. */
  readonly count?: CountField | undefined;
  /** The same for its minimum. */
  readonly minimum?: CountField | undefined;
  /** Nobody can say how many there are at a time; `replicas` means nothing. */
  readonly uncounted?: true;
  readonly oneByOne?: OneByOne | undefined;
}

/** The field that has the next Pod wait until the one before is ready, and what to write there. */
export interface OneByOne {
  readonly field: string;
  readonly instead: string;
}

/** By what the status of a workload tells that it has failed, or that it is not as it should be. */
export interface HealthSigns {
  /** Failed where `path` has one of `values`. */
  readonly phases: readonly { readonly path: string; readonly values: readonly string[] }[];
  /** Failed where one of these conditions is True. */
  readonly conditions: readonly string[];
  /** Not healthy where fewer than asked for: for what serves, as opposed to what runs to its end. */
  readonly ready?: readonly { readonly has: string; readonly wants: string; readonly otherwise: number }[];
}

/** How the statuses of several clusters become one. */
export interface StatusShape {
  /** Numbers, or objects of numbers, that are added up. */
  readonly sums: readonly string[];
  /** The worst one counts: the first in `order` that any cluster has. `waiting` is that of a cluster which says nothing. */
  readonly phases: readonly {
    readonly path: string;
    readonly order: readonly string[];
    readonly waiting: string;
  }[];
}

/** What a member cluster has written into a workload, and must not lose when the workload is updated. */
export interface Kept {
  /** The member's value, whatever is asked for. `*` is every item of a list or object. */
  readonly always: readonly string[];
  /** The member's value where nothing is asked for: defaults that its webhooks fill in, and may not be changed later. */
  readonly filled: readonly string[];
  /** The member's number of Pods where `flag` says that something there sets it by itself. */
  readonly scaled?: { readonly flag: string; readonly paths: readonly string[] };
  /** Pod templates to which a queue adds labels, node selectors, tolerations as it lets a job in. */
  readonly templates: readonly string[];
}

/** What of a kind are Pod templates, and how many Pods each stands for. */
export interface TemplateKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Each template by itself. Where a kind has both, this one counts and `single` is not asked. */
  readonly templates?: (object: JsonObject, reading: WorkloadReading) => readonly Template[];
  /** The one template of a kind that has no other. */
  readonly single?: (object: JsonObject, reading: WorkloadReading) => Template;
  /** A minimum of all templates together. */
  readonly totalMinimum?: string;
}

/** What several clusters are told of a kind. */
export interface FleetTerms {
  /** The same as `templates`, or `single`, as far as paths can say it. */
  readonly shapes?: readonly TemplateShape[];
  /** The same in Lua, where paths cannot say it: a function `computed(obj, _, found)`. A test holds it against the code. */
  readonly lua?: string | undefined;
  readonly health: HealthSigns;
  readonly status: StatusShape;
  readonly kept: Kept;
  /** For docs/fleet.md: how the components are called and what their minimum is. */
  readonly says: { readonly components: string; readonly minimum: string };
}

/** A kind that Karmada may ask about. */
export type WorkloadKind = TemplateKind & FleetTerms;

/** `batch.volcano.sh/v1alpha1 Job`. */
export const titleOf = ({ group, version, kind }: WorkloadKind): string =>
  `${group === '' ? '' : `${group}/`}${version} ${kind}`;

/**
 * Where a kind keeps its Pod templates, as far as paths can say it: for those who have to write it down in another
 * language. A kind whose numbers no path leads to has none.
 */
export type TemplateShape =
  | ({ readonly as: 'list' } & TemplateList)
  | ({ readonly as: 'roles' } & RoleMap)
  | ({ readonly as: 'alone' } & LoneTemplate);

/** Where a list of a workload keeps its Pod templates; all but `items` is below an item. */
export interface TemplateList {
  /** A list, or an object whose keys are the names. */
  readonly items: string;
  readonly name?: string;
  /** What an item without a name is called; its position follows. */
  readonly unnamed?: string;
  readonly template: string;
  /** Absent where every item stands for one Pod. */
  readonly replicas?: string;
  readonly minAvailable?: string;
}

/** A map from roles to templates. */
export interface RoleMap {
  readonly at: string;
  /** In this order; others by their names after them. */
  readonly roles: readonly string[];
  /** Roles that have no Pod where nothing is said; others have one. */
  readonly none: readonly string[];
  /** Where the least number of the role `worker` is, of a job that grows and shrinks. */
  readonly elastic?: string;
}

export interface LoneTemplate {
  /** Absent: what the template calls itself, else `main`. */
  readonly name?: string;
  readonly template: string;
  readonly replicas?: string | undefined;
  readonly minAvailable?: string | undefined;
}
