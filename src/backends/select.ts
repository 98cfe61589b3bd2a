import { fault, keyed, type Fault } from '../api/fault.ts';
import { ANNOTATION_SCHEDULER_NAME, LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { hostedIn } from './hosted.ts';
import type { BackendRegistry, Resolved } from './registry.ts';

/** What the API server writes into `spec.schedulerName` of a Pod that names no scheduler. */
const API_SERVER_DEFAULT = 'default-scheduler';

/** The backend of a PodGang, or why there is none. */
export type BackendChoice =
  | { readonly resolved: Resolved; readonly fault?: never }
  | { readonly fault: Fault; readonly resolved?: never };

/** The backend of a Pod and what named it, why there is none, or what has to be read first (`needs`). */
export type BackendSelection =
  | {
      readonly resolved: Resolved;
      readonly by: 'itself' | 'gang' | 'place';
      readonly fault?: never;
      readonly needs?: never;
    }
  | { readonly fault: Fault; readonly resolved?: never; readonly needs?: never }
  | { readonly needs: Place; readonly resolved?: never; readonly fault?: never };

/** The Namespace, and for a Pod the gang, in which an object stands. */
export interface Place {
  readonly namespace: string;
  /** Of a Pod; a PodGang stands in its Namespace only. */
  readonly gang: string | undefined;
}

/** The name of a backend that an object names; null: it names none. */
export type NamedBackend = string | null;

/** What memory knows of the objects that may name a backend; undefined: nothing is known of that object. */
export interface GangLookup {
  /** By the label of the PodGang. */
  readonly ofGang: (namespace: string, gang: string) => NamedBackend | undefined;
  /** By the annotation of the Namespace. */
  readonly ofNamespace: (namespace: string) => NamedBackend | undefined;
  /** `spec.priorityClassName` of the PodGang; null: it names none. Absent where nobody knows. */
  readonly classOfGang?: (namespace: string, gang: string) => string | null | undefined;
  /** The PodGang itself; null: there is none. Absent where nobody knows. */
  readonly gang?: (namespace: string, gang: string) => PodGang | null | undefined;
  /** Whether some Pod claims the gang. Absent where nobody knows. */
  readonly hasPods?: (namespace: string, gang: string) => boolean;
  /**
   * Asks the cluster where memory says too little. What it resolves to is final: it cannot be asked for more. Absent
   * where nobody can be asked, and then what is not known counts as named by nobody.
   * @throws TryLater where there is no answer in time
   */
  readonly read?: (place: Place, withinMs: number) => Promise<GangLookup>;
}

/**
 * Selects the backend of a Pod. The first of these that names one decides:
 * 1. the Pod's label `grove.io/scheduler-name`;
 * 2. its `spec.schedulerName`, but for `default-scheduler`, which the API server fills in by itself;
 * 3. the label of its PodGang;
 * 4. the annotation of its Namespace;
 * 5. the configured default.
 *
 * A gang has one scheduler, so a Pod that names another than its PodGang is refused. The PodGang in memory may be an
 * earlier one of the same name, so the cluster is asked (`needs`) before that refusal.
 * @param placement absent where nothing is watched, as in `muster review` and `muster serve --no-controller`
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
    // Two backends may share a scheduler: its name means that of the gang then.
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
 * Which backend serves a PodGang: its label first, then the annotation of its Namespace, then the configured default.
 * @param annotation undefined also where the Namespace is not known
 */
export const selectForPodGang = (
  registry: BackendRegistry,
  label: string | undefined,
  annotation?: string,
): BackendChoice =>
  label === undefined ? byAnnotation(registry, annotation) : byName(registry, label, SCHEDULER_LABEL);

/** Which backend serves what stands in a Namespace and names none, and has no gang that does. */
export function selectByPlace(
  registry: BackendRegistry,
  place: Place,
  placement: GangLookup | undefined,
): BackendSelection {
  const annotation = placement?.ofNamespace(place.namespace);
  if (annotation === undefined && canAsk(registry, placement)) return { needs: place };
  return chosen(byAnnotation(registry, annotation ?? undefined), 'place');
}

/** A Pod is another backend's than its gang. */
export const notOfGang = (field: string, value: string, gang: string, backend: string): Fault =>
  fault('BackendOfGang', field, { value, detail: `PodGang ${gang} is of ${backend}` });

const SCHEDULER_LABEL = keyed('metadata.labels', LABEL_SCHEDULER_NAME);

const namesScheduler = (name: string | undefined): boolean =>
  name !== undefined && name !== '' && name !== API_SERVER_DEFAULT;

/** Where there is no choice, nobody need be asked. */
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
 * By what stands in another object than the one under review. It is not repeated: whoever reaches the port could ask, in the
 * name of any Namespace, what is written there.
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
