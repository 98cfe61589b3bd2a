import { fault, keyed, type Fault } from '../api/fault.ts';
import { ANNOTATION_SCHEDULER_NAME, LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { BackendRegistry, Resolved } from './registry.ts';

/** What the API server writes into `spec.schedulerName` of a Pod that names no scheduler. */
const API_SERVER_DEFAULT = 'default-scheduler';

/** The backend of a Pod or PodGang, or why there is none. */
export type Selection = { readonly resolved: Resolved; readonly fault?: never } | { readonly fault: Fault };

/** What is known, without asking anybody, of where an object stands: names of backends, or undefined. */
export interface Placement {
  /** By the label of the PodGang. */
  ofGang(namespace: string, gang: string): string | undefined;
  /** By the annotation of the Namespace. */
  ofNamespace(namespace: string): string | undefined;
}

/** Where a Pod stands, and what is known of that place. */
export interface Place {
  readonly namespace: string;
  readonly gang: string;
  readonly placement: Placement;
}

/**
 * Which backend serves a Pod: its label first, then the scheduler it names, then its gang, its Namespace, and the
 * configured default. The API server fills in `default-scheduler` by itself, so that name alone says nothing; a Pod that
 * truly wants kube-scheduler beside another default says so with the label.
 * @param place absent where nothing is watched, as in `muster review` and `muster serve --no-controller`
 */
export function selectForPod(
  registry: BackendRegistry,
  label: string | undefined,
  schedulerName: string | undefined,
  place?: Place,
): Selection {
  if (label !== undefined) return byLabel(registry, label);
  if (schedulerName !== undefined && schedulerName !== '' && schedulerName !== API_SERVER_DEFAULT) {
    return byName(registry, schedulerName, 'spec.schedulerName');
  }
  const recorded = place?.placement.ofGang(place.namespace, place.gang);
  return recorded === undefined
    ? byPlace(registry, place?.placement.ofNamespace(place.namespace))
    : byName(registry, recorded, `PodGang ${place?.gang ?? ''}: ${SCHEDULER_LABEL}`);
}

/**
 * Which backend serves a PodGang: its label first, then the annotation of its Namespace, then the configured default.
 * @param annotation undefined also where the Namespace is not known
 */
export const selectForPodGang = (
  registry: BackendRegistry,
  label: string | undefined,
  annotation?: string,
): Selection => (label === undefined ? byPlace(registry, annotation) : byLabel(registry, label));

const SCHEDULER_LABEL = keyed('metadata.labels', LABEL_SCHEDULER_NAME);

const byLabel = (registry: BackendRegistry, label: string): Selection =>
  byName(registry, label, SCHEDULER_LABEL);

const byPlace = (registry: BackendRegistry, annotation: string | undefined): Selection =>
  annotation === undefined
    ? { resolved: { backend: registry.default, notice: undefined } }
    : byName(registry, annotation, `Namespace: ${keyed('metadata.annotations', ANNOTATION_SCHEDULER_NAME)}`);

function byName(registry: BackendRegistry, name: string, field: string): Selection {
  const resolved = registry.resolve(name);
  if (resolved !== undefined) return { resolved };
  const detail = `enabled: ${registry.enabled.join(', ')}`;
  return { fault: fault('SchedulerNotEnabled', field, { value: name, detail }) };
}
