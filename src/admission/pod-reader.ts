import { asObject, isObject, own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import {
  ANNOTATION_MIRROR_POD,
  GATE_POD_GANG_PENDING,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
} from '../api/names.ts';
import type { PodController } from '../api/pod-origin.ts';
import { LARGE_FIELDS } from '../preparers/pod-part.ts';
import type { PodField, PodList, PodReader, WorkloadRef } from '../preparers/preparer.ts';
import { controllerOf } from '../workloads/pod-origin.ts';
import { at, standingAt } from './list-edits.ts';
import { BadRequest } from '../errors.ts';
import type { AdmissionRequest } from './review.ts';

/** Reads the received Pod in place. */
export class ReceivedPod implements PodReader {
  readonly namespace: string;
  readonly #entire: () => JsonObject;
  readonly #metadata: Json | undefined;
  readonly #spec: Json | undefined;
  readonly #labels: Json | undefined;
  readonly #annotations: Json | undefined;
  #gang: string | undefined;
  #group: string | undefined;

  /** @param entire the Pod with the lists of its containers, where those were left out of `pod` */
  constructor(pod: JsonObject, namespace: string, entire = () => pod) {
    this.namespace = namespace;
    this.#entire = entire;
    const metadata = asObject(pod['metadata']);
    this.#metadata = metadata;
    this.#spec = pod['spec'];
    this.#labels = metadata?.['labels'];
    this.#annotations = metadata?.['annotations'];
  }

  get name(): string | undefined {
    return ownString(this.#metadata, 'name');
  }

  get schedulerName(): string | undefined {
    return ownString(this.#spec, 'schedulerName');
  }

  get priorityClassName(): string | undefined {
    return ownString(this.#spec, 'priorityClassName');
  }

  get priority(): number | undefined {
    const priority = own(this.#spec, 'priority');
    return typeof priority === 'number' ? priority : undefined;
  }

  get schedulingGroup(): string | undefined {
    return ownString(own(this.#spec, 'schedulingGroup'), 'podGroupName');
  }

  get workloadRef(): WorkloadRef | undefined {
    const given = own(this.#spec, 'workloadRef');
    const name = ownString(given, 'name');
    if (name === undefined) return undefined;
    const podGroupReplicaKey = ownString(given, 'podGroupReplicaKey');
    return {
      name,
      podGroup: ownString(given, 'podGroup') ?? '',
      ...(podGroupReplicaKey !== undefined && { podGroupReplicaKey }),
    };
  }

  get containers(): readonly string[] {
    return (ownList(this.#spec, 'containers') ?? []).flatMap((one) => ownString(one, 'name') ?? []);
  }

  list(list: PodList, container?: string): readonly JsonObject[] {
    const given = standingAt(this.#entire(), list, container);
    return Array.isArray(given) ? (given as readonly Json[]).filter(isObject) : [];
  }

  field(field: PodField, container?: string): Json | undefined {
    return standingAt(this.#entire(), field, container);
  }

  at(path: readonly string[]): Json | undefined {
    const [room, place] = path;
    // All but the large lists is there without parsing them.
    const small = room === 'spec' && place !== undefined && !LARGE_FIELDS.includes(place);
    return small ? at(this.#spec, path.slice(1)) : at(this.#entire(), path);
  }

  get nodeName(): string | undefined {
    return ownString(this.#spec, 'nodeName');
  }

  /** Whether the Pod has Muster's gate. */
  get gated(): boolean {
    const gates = ownList(this.#spec, 'schedulingGates') ?? [];
    return gates.some((gate) => ownString(gate, 'name') === GATE_POD_GANG_PENDING);
  }

  get deleting(): boolean {
    return ownString(this.#metadata, 'deletionTimestamp') !== undefined;
  }

  label(key: string): string | undefined {
    if (this.#gang !== undefined) {
      if (key === LABEL_POD_GANG) return this.#gang;
      if (key === LABEL_POD_CLIQUE) return this.#group;
    }
    return ownString(this.#labels, key);
  }

  /** Sets the gang and group that the patch will add as labels; later reads return these. */
  withNames(gang: string, group: string): void {
    this.#gang = gang;
    this.#group = group;
  }

  get controller(): PodController | undefined {
    return controllerOf(this.#metadata);
  }

  annotation(key: string): string | undefined {
    return ownString(this.#annotations, key);
  }

  /**
   * Checks that a patch can be built.
   * @throws {BadRequest} where spec is no object, or its gates are no list
   */
  checkPatchable(): void {
    const wrong = (value: Json | undefined, list: boolean): boolean =>
      value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value) !== list);
    if (wrong(this.#spec, false)) throw new BadRequest('request.object.spec: an object is needed');
    if (wrong(own(this.#spec, 'schedulingGates'), true)) {
      throw new BadRequest('request.object.spec.schedulingGates: a list is needed');
    }
  }
}

const NODE_GROUP = 'system:nodes';

/**
 * Whether the Pod is a mirror Pod: the API object for a static Pod that the requesting kubelet runs already. The annotation
 * alone is no proof, since anybody can write it.
 */
export const isMirrorPod = (pod: ReceivedPod, request: AdmissionRequest): boolean =>
  pod.annotation(ANNOTATION_MIRROR_POD) !== undefined && request.groups.includes(NODE_GROUP);
