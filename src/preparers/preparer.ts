import type { Fault } from '../api/fault.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Membership } from '../gang/membership.ts';

/** A Workload of Kubernetes 1.35, one of the groups that it lists, and which of several copies of that group. */
export interface WorkloadRef {
  readonly name: string;
  readonly podGroup: string;
  readonly podGroupReplicaKey?: string;
}

/**
 * Lists of a Pod to which something may be added, and the field by which an item is known in each; `undefined`: by all of
 * it. Those of `containers` are lists of each container of `spec.containers`.
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

/** Fields that are set as a whole, and what they take; those of `containers` are of each container of `spec.containers`. */
export const POD_FIELDS = {
  'containers.command': 'texts',
  'containers.args': 'texts',
  'spec.hostname': 'text',
  'spec.subdomain': 'text',
} as const satisfies Record<string, 'text' | 'texts'>;
export type PodField = keyof typeof POD_FIELDS;

/** What may be read of the Pod at admission: the received Pod, before anything of Muster's. */
export interface PodReader {
  readonly namespace: string;
  /** Absent while `generateName` is still to be resolved. */
  readonly name: string | undefined;
  readonly schedulerName: string | undefined;
  readonly priorityClassName: string | undefined;
  /** `spec.schedulingGroup.podGroupName` of Kubernetes 1.36 and later. */
  readonly schedulingGroup: string | undefined;
  /** `spec.workloadRef` of Kubernetes 1.35, where it names a Workload. */
  readonly workloadRef: WorkloadRef | undefined;
  /** Names of `spec.containers`. */
  readonly containers: readonly string[];
  label(key: string): string | undefined;
  annotation(key: string): string | undefined;
  /** @param container whose, for a list of `containers`; absent: of the first */
  list(list: PodList, container?: string): readonly JsonObject[];
  field(field: PodField, container?: string): Json | undefined;
  /** What stands at a place of it, `['spec', 'hostNetwork']`; undefined where there is none. */
  at(path: readonly string[]): Json | undefined;
}

/** The fields of a Pod that a preparer may change. Any other change is a defect: it is not applied and the Pod is refused. */
export interface PatchSurface {
  readonly schedulerName?: boolean;
  readonly annotations?: readonly string[];
  readonly labels?: readonly string[];
  /** Further scheduling gates; Muster's own is nobody else's to touch. */
  readonly gates?: readonly string[];
  readonly schedulingGroup?: boolean;
  readonly workloadRef?: boolean;
  readonly lists?: readonly PodList[];
  readonly fields?: readonly PodField[];
}

/** Changes to one Pod. Setting a value that is already there patches nothing; `muster review` shows `why`, a clause. */
export interface PodPatch {
  setSchedulerName(name: string, why: string): void;
  annotate(key: string, value: string, why: string): void;
  label(key: string, value: string, why: string): void;
  addGate(name: string, why: string): void;
  /** `spec.schedulingGroup.podGroupName` of Kubernetes 1.36 and later. */
  setSchedulingGroup(podGroupName: string, why: string): void;
  /** `spec.workloadRef` of Kubernetes 1.35: a Workload, and one of the groups that it lists. */
  setWorkloadRef(reference: { name: string; podGroup: string }, why: string): void;
  /**
   * Adds to the end of a list, which is made where it is missing. An item that the Pod has already, by the field in
   * {@link POD_LISTS}, stays as it is.
   * @param container the one that is meant, for a list of `containers`; absent: each
   */
  add(list: PodList, item: JsonObject, why: string, container?: string): void;
  set(field: PodField, value: Json, why: string, container?: string): void;
}

/** What cannot be expressed (`faults`, refused) or will be ignored (`warnings`, said). */
export interface PodGangVerdict {
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
}

export const NO_FINDINGS: PodGangVerdict = { faults: [], warnings: [] };

/** What several say of one gang, in their order. */
export const mergedVerdicts = (verdicts: readonly PodGangVerdict[]): PodGangVerdict => ({
  faults: verdicts.flatMap(({ faults }) => faults),
  warnings: verdicts.flatMap(({ warnings }) => warnings),
});

/**
 * Changes the Pods of one gang. A gang has one backend, which also prepares Pods, and any number of preparers: they run in a
 * fixed order, the backend first.
 */
export interface Preparer {
  readonly name: string;
  readonly patchSurface: PatchSurface;
  /**
   * Synchronous, pure, no clock and no I/O; the same Pod gives the same patch, and the prepared Pod gives none.
   * @throws {PodRefused} where this Pod cannot be prepared
   */
  prepare(pod: PodReader, gang: Membership, patch: PodPatch): void;
  validate?(gang: PodGang): PodGangVerdict;
}

/** A refusal of a Pod that cannot be prepared: the user is told, with 422. */
export class PodRefused extends Error {
  readonly field: string;
  /** All that is wrong, each by its rule, where Muster itself has rules for it. */
  readonly faults: readonly Fault[] | undefined;

  constructor(field: string, message: string, faults?: readonly Fault[]) {
    super(message);
    this.name = 'PodRefused';
    this.field = field;
    this.faults = faults;
  }
}

/** @param faults one at least */
export const podRefused = (faults: readonly Fault[]): PodRefused =>
  new PodRefused(faults[0]?.field ?? '', faults.map(({ message }) => message).join('; '), faults);

/** Whether a {@link PodRefused} was thrown: by its name too, as one that was bundled has a class of its own. */
export const isPodRefused = (thrown: unknown): thrown is PodRefused =>
  thrown instanceof PodRefused ||
  (thrown instanceof Error &&
    thrown.name === 'PodRefused' &&
    'field' in thrown &&
    typeof thrown.field === 'string');
