import { fault, keyed, type Fault } from '../api/fault.ts';
import { ANNOTATION_SCHEDULER_NAME, LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { BackendRegistry, Resolved } from './registry.ts';

/** What the API server writes into `spec.schedulerName` of a Pod that names no scheduler. */
const API_SERVER_DEFAULT = 'default-scheduler';

/** The backend of a Pod or PodGang, or why there is none. */
export type Selection = { readonly resolved: Resolved; readonly fault?: never } | { readonly fault: Fault };

/**
 * Which backend serves a Pod: its label first, then the scheduler it names, then the configured default. The API
 * server fills in `default-scheduler` by itself, so that name alone says nothing; a Pod that truly wants
 * kube-scheduler beside another default says so with the label.
 */
export function selectForPod(
  registry: BackendRegistry,
  label: string | undefined,
  schedulerName: string | undefined,
): Selection {
  if (label !== undefined) return byLabel(registry, label);
  if (schedulerName === undefined || schedulerName === '' || schedulerName === API_SERVER_DEFAULT) {
    return { resolved: { backend: registry.default, notice: undefined } };
  }
  return byName(registry, schedulerName, 'spec.schedulerName');
}

/**
 * Which backend serves a PodGang: its label first, then the annotation of its Namespace, then the configured default.
 * @param annotation undefined also where the Namespace is not known
 */
export function selectForPodGang(
  registry: BackendRegistry,
  label: string | undefined,
  annotation?: string,
): Selection {
  if (label !== undefined) return byLabel(registry, label);
  if (annotation !== undefined) return byAnnotation(registry, annotation);
  return { resolved: { backend: registry.default, notice: undefined } };
}

const byAnnotation = (registry: BackendRegistry, annotation: string): Selection =>
  byName(registry, annotation, keyed('Namespace metadata.annotations', ANNOTATION_SCHEDULER_NAME));

const byLabel = (registry: BackendRegistry, label: string): Selection =>
  byName(registry, label, keyed('metadata.labels', LABEL_SCHEDULER_NAME));

function byName(registry: BackendRegistry, name: string, field: string): Selection {
  const resolved = registry.resolve(name);
  if (resolved !== undefined) return { resolved };
  const detail = `enabled: ${registry.enabled.join(', ')}`;
  return { fault: fault('SchedulerNotEnabled', field, { value: name, detail }) };
}
