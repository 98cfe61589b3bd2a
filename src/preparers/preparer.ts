import type { Fault } from '../api/fault.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Membership } from '../gang/membership.ts';

/** A reference of Kubernetes 1.35 to a Workload, to one of its groups, and to one of the group's copies. */
export interface WorkloadRef {
  readonly name: string;
  readonly podGroup: string;
  readonly podGroupReplicaKey?: string;
}

/**
 * Lists of a Pod to which items may be added, with the field that identifies an item; `undefined`: the whole item does.
 * Lists of `containers` are in each container of `spec.containers`.
 */
export const POD_LISTS = {
  'spec.volumes': 'name',
  'spec.initContainers': 'name',
  'spec.imagePullSecrets': 'name',
  'spec.tolerations': undefined,
  'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution': undefined,
  'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution': undefined,
  'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution': undefined,
  'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution': undefined,
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms': undefined,
  'containers.env': 'name',
  'containers.volumeMounts': 'mountPath',
} as const satisfies Record<string, string | undefined>;
export type PodList = keyof typeof POD_LISTS;

/**
 * Fields that are replaced as a whole, with the type of their value; fields of `containers` are in each container of
 * `spec.containers`.
 */
export const POD_FIELDS = {
  'containers.command': 'texts',
  'containers.args': 'texts',
  'spec.hostname': 'text',
  'spec.subdomain': 'text',
} as const satisfies Record<string, 'text' | 'texts'>;
export type PodField = keyof typeof POD_FIELDS;

/** Read access to the Pod at admission: the Pod as received, before any change by Muster. */
export interface PodReader {
  readonly namespace: string;
  /** undefined while `generateName` has not been resolved. */
  readonly name: string | undefined;
  readonly schedulerName: string | undefined;
  readonly priorityClassName: string | undefined;
  /** `spec.schedulingGroup.podGroupName` of Kubernetes 1.36 and later. */
  readonly schedulingGroup: string | undefined;
  /** `spec.workloadRef` of Kubernetes 1.35, when it names a Workload. */
  readonly workloadRef: WorkloadRef | undefined;
  /** Names of `spec.containers`. */
  readonly containers: readonly string[];
  label(key: string): string | undefined;
  annotation(key: string): string | undefined;
  /** @param container name of the container, for a list of `containers`; absent: the first one */
  list(list: PodList, container?: string): readonly JsonObject[];
  field(field: PodField, container?: string): Json | undefined;
  /** The value at a path such as `['spec', 'hostNetwork']`; undefined when there is none. */
  at(path: readonly string[]): Json | undefined;
}

/** Fields of a Pod that a preparer may change. Any other change is a defect: it is not applied, and the Pod is refused. */
export interface PatchSurface {
  readonly schedulerName?: boolean;
  readonly annotations?: readonly string[];
  readonly labels?: readonly string[];
  /** Additional scheduling gates. Muster's own gate cannot be declared. */
  readonly gates?: readonly string[];
  readonly schedulingGroup?: boolean;
  readonly workloadRef?: boolean;
  readonly lists?: readonly PodList[];
  readonly fields?: readonly PodField[];
}

/**
 * Changes to one Pod. Setting a field to its present value patches nothing. `why` is a clause that `muster review` prints.
 */
export interface PodPatch {
  setSchedulerName(name: string, why: string): void;
  annotate(key: string, value: string, why: string): void;
  label(key: string, value: string, why: string): void;
  addGate(name: string, why: string): void;
  /** `spec.schedulingGroup.podGroupName` of Kubernetes 1.36 and later. */
  setSchedulingGroup(podGroupName: string, why: string): void;
  /** `spec.workloadRef` of Kubernetes 1.35: a Workload and one of its groups. */
  setWorkloadRef(reference: { name: string; podGroup: string }, why: string): void;
  /**
   * Appends to a list, which is created when it is missing. An item that the Pod has already, by the field in
   * {@link POD_LISTS}, stays unchanged.
   * @param container name of the container, for a list of `containers`; absent: every container
   */
  add(list: PodList, item: JsonObject, why: string, container?: string): void;
  set(field: PodField, value: Json, why: string, container?: string): void;
}

/** Terms that cannot be expressed (`faults`, refused) and terms that will be ignored (`warnings`). */
export interface PodGangVerdict {
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
}

export const NO_FINDINGS: PodGangVerdict = { faults: [], warnings: [] };

/** Joins verdicts on one gang, in their order. */
export const mergedVerdicts = (verdicts: readonly PodGangVerdict[]): PodGangVerdict => ({
  faults: verdicts.flatMap(({ faults }) => faults),
  warnings: verdicts.flatMap(({ warnings }) => warnings),
});

/**
 * Changes the Pods of one gang. A gang has one backend, which also prepares Pods, and any number of preparers. They run in a
 * fixed order, the backend first.
 */
export interface Preparer {
  readonly name: string;
  readonly patchSurface: PatchSurface;
  /**
   * Synchronous, pure, no clock and no I/O. The same Pod gives the same patch, and a prepared Pod gives an empty one.
   * @throws {PodRefused} when this Pod cannot be prepared
   */
  prepare(pod: PodReader, gang: Membership, patch: PodPatch): void;
  validate?(gang: PodGang): PodGangVerdict;
}

/** Refuses a Pod that cannot be prepared: the user gets the message, with status 422. */
export class PodRefused extends Error {
  readonly field: string;
  /** All faults, when Muster itself has rules for them. */
  readonly faults: readonly Fault[] | undefined;

  constructor(field: string, message: string, faults?: readonly Fault[]) {
    super(message);
    this.name = 'PodRefused';
    this.field = field;
    this.faults = faults;
  }
}

/** @param faults at least one */
export const podRefused = (faults: readonly Fault[]): PodRefused =>
  new PodRefused(faults[0]?.field ?? '', faults.map(({ message }) => message).join('; '), faults);

/** Whether a {@link PodRefused} was thrown. Checked by name too, since a bundled module has a class of its own. */
export const isPodRefused = (thrown: unknown): thrown is PodRefused =>
  thrown instanceof PodRefused ||
  (thrown instanceof Error &&
    thrown.name === 'PodRefused' &&
    'field' in thrown &&
    typeof thrown.field === 'string');
