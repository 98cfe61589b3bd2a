import { fault, keyed, type Fault } from '../api/fault.ts';
import { ANNOTATION_SCHEDULER_NAME, LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { hostedIn } from './hosted.ts';
import { KAI_NAME, ownQueue } from './kai/names.ts';
import type { BackendRegistry, Resolved } from './registry.ts';
import { volcanoQueueOf } from './volcano/objects.ts';

/** Value that the API server writes into `spec.schedulerName` of a Pod that names no scheduler. */
const API_SERVER_DEFAULT = 'default-scheduler';

/** The backend of a PodGang, or the fault that prevents the choice. */
export type BackendChoice =
  | { readonly resolved: Resolved; readonly fault?: never }
  | { readonly fault: Fault; readonly resolved?: never };

/**
 * The backend of a Pod with the field that selected it, the fault that prevents the choice, or the objects to read first
 * (`needs`).
 */
export type BackendSelection =
  | {
      readonly resolved: Resolved;
      readonly by: 'itself' | 'gang' | 'place';
      readonly fault?: never;
      readonly needs?: never;
    }
  | { readonly fault: Fault; readonly resolved?: never; readonly needs?: never }
  | { readonly needs: Place; readonly resolved?: never; readonly fault?: never };

/** Namespace of an object and, for a Pod, its gang. */
export interface Place {
  readonly namespace: string;
  /** undefined for a PodGang, which has only a Namespace here. */
  readonly gang: string | undefined;
}

/** The backend name that an object has; null: it has none. */
export type NamedBackend = string | null;

/** Cached backend names of the objects that may have one; undefined: the object is not in the cache. */
export interface GangLookup {
  /** From the label of the PodGang. */
  readonly ofGang: (namespace: string, gang: string) => NamedBackend | undefined;
  /** From the annotation of the Namespace. */
  readonly ofNamespace: (namespace: string) => NamedBackend | undefined;
  /** `spec.priorityClassName` of the PodGang; null: the PodGang has none. Absent when PodGangs are not watched. */
  readonly classOfGang?: (namespace: string, gang: string) => string | null | undefined;
  /** The PodGang itself; null: it does not exist. Absent when PodGangs are not watched. */
  readonly gang?: (namespace: string, gang: string) => PodGang | null | undefined;
  /** Whether some Pod has the label of the gang. Absent when Pods are not watched. */
  readonly hasPods?: (namespace: string, gang: string) => boolean;
  /**
   * Reads the objects from the API server when the cache lacks them. The resolved lookup is final and has no `read`. Absent
   * when there is no API server to read from; objects that are not in the cache then count as naming no backend.
   * @throws TryLater when there is no answer in time
   */
  readonly read?: (place: Place, withinMs: number) => Promise<GangLookup>;
}

/**
 * Selects the backend of a Pod by the first of these that names one:
 * 1. the Pod's label `grove.io/scheduler-name`;
 * 2. its `spec.schedulerName`, unless that is `default-scheduler`, the API server's default;
 * 3. the label of its PodGang;
 * 4. the annotation of its Namespace;
 * 5. the configured default.
 *
 * A gang has one scheduler, so a Pod that names another backend than its PodGang is refused. The cached PodGang may be an
 * earlier one of the same name, so the API server is read (`needs`) before that refusal.
 * @param placement absent when nothing is watched, as in `muster review` and `muster serve --no-controller`
 */
export function selectForPod(
  registry: BackendRegistry,
  label: string | undefined,
  schedulerName: string | undefined,
  { namespace, gang }: { readonly namespace: string; readonly gang: string } = { namespace: '', gang: '' },
  placement?: GangLookup,
): BackendSelection {
  const ofGang = placement?.ofGang(namespace, gang);
  if (label !== undefined || namesScheduler(schedulerName)) {
    const field = label === undefined ? 'spec.schedulerName' : SCHEDULER_LABEL;
    const name = label ?? schedulerName ?? '';
    const byItself = byName(registry, name, field);
    if (byItself.fault !== undefined) return byItself;
    const { resolved } = byItself;
    const gangs = typeof ofGang === 'string' ? registry.resolve(ofGang) : undefined;
    if (gangs === undefined || gangs.backend === resolved.backend) return { resolved, by: 'itself' };
    // When two backends share a scheduler, its name means the backend of the gang.
    if (label === undefined && gangs.backend.schedulerName === name) return { resolved: gangs, by: 'itself' };
    if (placement?.read !== undefined) return { needs: { namespace, gang } };
    return { fault: notOfGang(field, name, gang, gangs.backend.name) };
  }
  if (typeof ofGang === 'string') {
    return chosen(byStored(registry, ofGang, `PodGang ${gang}: ${SCHEDULER_LABEL}`), 'gang');
  }
  if (ofGang === undefined && canAsk(registry, placement)) return { needs: { namespace, gang } };
  return selectByPlace(registry, { namespace, gang }, placement);
}

/**
 * Selects the backend of a PodGang: by its label, then the annotation of its Namespace, then the configured default.
 * @param annotation undefined also when the Namespace is unknown
 */
export const selectForPodGang = (
  registry: BackendRegistry,
  label: string | undefined,
  annotation?: string,
): BackendChoice =>
  label === undefined ? byAnnotation(registry, annotation) : byName(registry, label, SCHEDULER_LABEL);

/** Selects the backend of an object that names none and whose gang names none, by its Namespace. */
export function selectByPlace(
  registry: BackendRegistry,
  place: Place,
  placement: GangLookup | undefined,
): BackendSelection {
  const annotation = placement?.ofNamespace(place.namespace);
  if (annotation === undefined && canAsk(registry, placement)) return { needs: place };
  return chosen(byAnnotation(registry, annotation ?? undefined), 'place');
}

/** The fault of a Pod that names another backend than its gang. */
export const notOfGang = (field: string, value: string, gang: string, backend: string): Fault =>
  fault('BackendOfGang', field, { value, detail: `PodGang ${gang} is of ${backend}` });

const SCHEDULER_LABEL = keyed('metadata.labels', LABEL_SCHEDULER_NAME);

const namesScheduler = (name: string | undefined): boolean =>
  name !== undefined && name !== '' && name !== API_SERVER_DEFAULT;

/** False with a single enabled backend, which needs no lookup. */
const canAsk = (registry: BackendRegistry, placement: GangLookup | undefined): boolean =>
  placement?.read !== undefined && registry.enabled.length > 1;

const chosen = (choice: BackendChoice, by: 'gang' | 'place'): BackendSelection =>
  choice.resolved === undefined ? choice : { resolved: choice.resolved, by };

const byAnnotation = (registry: BackendRegistry, annotation: string | undefined): BackendChoice =>
  annotation === undefined
    ? { resolved: { backend: registry.default, notice: undefined, hosted: hostedIn(registry.default) } }
    : byStored(
        registry,
        annotation,
        `Namespace: ${keyed('metadata.annotations', ANNOTATION_SCHEDULER_NAME)}`,
      );

const byName = (registry: BackendRegistry, name: string, field: string): BackendChoice =>
  chosenBy(registry, name, field, { value: name });

/**
 * Chooses by the backend name in another object than the one under review. The fault does not repeat that name: anybody who
 * reaches the port could send a review for any Namespace and would read its value in the answer.
 */
const byStored = (registry: BackendRegistry, name: string, field: string): BackendChoice =>
  chosenBy(registry, name, field, {});

function chosenBy(
  registry: BackendRegistry,
  name: string,
  field: string,
  told: { readonly value?: string },
): BackendChoice {
  const resolved = registry.resolve(name);
  if (resolved !== undefined) return { resolved };
  const detail = `enabled: ${registry.enabled.join(', ')}`;
  return { fault: fault('SchedulerNotEnabled', field, { ...told, detail }) };
}

/** The queue of its scheduler that a PodGang names; what another scheduler would read in it does not count. */
export function namedQueue(
  gang: Pick<PodGang, 'labels' | 'annotations'>,
  backend: string,
): string | undefined {
  if (backend === KAI_NAME) return ownQueue(gang);
  return backend === 'volcano' ? volcanoQueueOf(gang, undefined) : undefined;
}
