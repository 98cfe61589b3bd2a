import type { JsonObject } from '../json/json.ts';
import type { Path } from './path.ts';
import type { TemplateShape } from './template-shape.ts';
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
}

/**
 * One kind of workload: its Pod templates, and what its status says. The one table of this ({@link workloadKinds}) serves
 * everybody who has to know.
 */
export interface WorkloadKind extends TemplateKind {
  /** The same as `templates`, or `single`, as far as paths can say it. */
  readonly shapes?: readonly TemplateShape[];
  /** A minimum of all templates together. */
  readonly totalMinimum?: string;
  readonly health: HealthSigns;
  readonly status: StatusShape;
  readonly kept: Kept;
  /** For docs/fleet.md: how the components are called and what their minimum is. */
  readonly says: { readonly components: string; readonly minimum: string };
}

/** `batch.volcano.sh/v1alpha1 Job`. */
export const titleOf = ({ group, version, kind }: WorkloadKind): string =>
  `${group === '' ? '' : `${group}/`}${version} ${kind}`;
