import type { JsonObject } from '../json/json.ts';
import type { Path } from './path.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** A number of Pods by a field: Pods = field × `per`. */
export interface CountField {
  readonly path: Path;
  readonly per: number;
}

/** One Pod template of a workload, with its number of Pods when all of them run. */
export interface Template {
  /** The workload's own name for it; '' when it has none. */
  readonly name: string;
  /** Pod template, `{metadata, spec}`; undefined when it is missing or in another object. */
  readonly template: JsonObject | undefined;
  /** Path of the template, for messages. */
  readonly path: Path;
  readonly replicas: number;
  /** Pods of it that must start together; undefined: all. */
  readonly minAvailable: number | undefined;
  /** Field with the number of its Pods; undefined when the number is computed from other fields. */
  readonly count?: CountField | undefined;
  /** Field with its minimum. */
  readonly minimum?: CountField | undefined;
  /** Set when the number of concurrent Pods is unknown; `replicas` has no meaning then. */
  readonly uncounted?: true;
  readonly oneByOne?: OneByOne | undefined;
}

/** The field that makes each Pod wait until the one before is ready, and the value to write instead. */
export interface OneByOne {
  readonly field: string;
  readonly instead: string;
}

/** Signs in a workload's status that it has failed or is not healthy. */
export interface HealthSigns {
  /** Failed when the field at `path` has one of `values`. */
  readonly phases: readonly { readonly path: string; readonly values: readonly string[] }[];
  /** Failed when one of these conditions is True. */
  readonly conditions: readonly string[];
  /**
   * Unhealthy when the number at `has` is below the number at `wants` (`otherwise` when absent): for kinds that serve rather
   * than run to completion.
   */
  readonly ready?: readonly { readonly has: string; readonly wants: string; readonly otherwise: number }[];
}

/** How the statuses of several clusters are merged. */
export interface StatusShape {
  /** Paths of numbers, or of objects of numbers, that are added. */
  readonly sums: readonly string[];
  /**
   * Phases of which the worst is used: the first in `order` that any cluster has. A cluster without a status counts as
   * `waiting`.
   */
  readonly phases: readonly {
    readonly path: string;
    readonly order: readonly string[];
    readonly waiting: string;
  }[];
}

/** Fields that a member cluster has written into a workload and that an update must keep. */
export interface Kept {
  /** Paths whose value in the member cluster always wins. `*` is every item of a list or object. */
  readonly always: readonly string[];
  /** Paths whose value in the member cluster is used when the update has none: immutable defaults of webhooks. */
  readonly filled: readonly string[];
  /** Paths of Pod numbers whose value in the member cluster is kept when `flag` says that a controller there scales them. */
  readonly scaled?: { readonly flag: string; readonly paths: readonly string[] };
  /** Paths of Pod templates to which a queue adds labels, node selectors and tolerations when it admits a job. */
  readonly templates: readonly string[];
}

/** The Pod templates of a kind and their numbers of Pods. */
export interface TemplateKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Each template separately. For a kind that has both, this is used instead of `single`. */
  readonly templates?: (object: JsonObject, reading: WorkloadReading) => readonly Template[];
  /** The only template of a kind. */
  readonly single?: (object: JsonObject, reading: WorkloadReading) => Template;
  /** Path of a minimum of all templates together. */
  readonly totalMinimum?: string;
}

/** Facts about a kind for fleets of several clusters. */
export interface FleetTerms {
  /** `templates` or `single` as paths, for kinds where paths are enough. */
  readonly shapes?: readonly TemplateShape[];
  /**
   * `templates` or `single` in Lua, where paths are not enough: a function `computed(obj, _, found)`. A test compares it
   * with the code.
   */
  readonly lua?: string | undefined;
  readonly health: HealthSigns;
  readonly status: StatusShape;
  readonly kept: Kept;
  /** Texts for docs/fleet.md: the names of the components and their minimum. */
  readonly says: { readonly components: string; readonly minimum: string };
}

/** A kind that Karmada may ask about. */
export type WorkloadKind = TemplateKind & FleetTerms;

/** Group, version and kind for messages: `batch.volcano.sh/v1alpha1 Job`. */
export const titleOf = ({ group, version, kind }: WorkloadKind): string =>
  `${group === '' ? '' : `${group}/`}${version} ${kind}`;

/**
 * Where a kind keeps its Pod templates, as paths, for translation into other languages. A kind whose numbers have to be
 * computed has none.
 */
export type TemplateShape =
  | ({ readonly as: 'list' } & TemplateList)
  | ({ readonly as: 'roles' } & RoleMap)
  | ({ readonly as: 'alone' } & LoneTemplate);

/** A list of items with Pod templates; every path but `items` starts at an item. */
export interface TemplateList {
  /** Path of a list, or of an object whose keys are the names. */
  readonly items: string;
  readonly name?: string;
  /** Prefix of the name of an item without a name; its position follows. */
  readonly unnamed?: string;
  readonly template: string;
  /** Absent: every item has one Pod. */
  readonly replicas?: string;
  readonly minAvailable?: string;
}

/** A map from roles to templates. */
export interface RoleMap {
  readonly at: string;
  /** Order of the roles; other roles follow by name. */
  readonly roles: readonly string[];
  /** Roles that default to 0 Pods; all others default to 1. */
  readonly none: readonly string[];
  /** Path of the minimum of the role `worker`, for elastic jobs. */
  readonly elastic?: string;
}

export interface LoneTemplate {
  /** Absent: the template's own name, else `main`. */
  readonly name?: string;
  readonly template: string;
  readonly replicas?: string | undefined;
  readonly minAvailable?: string | undefined;
}
