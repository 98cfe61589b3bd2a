import type { Json, JsonObject } from '../json/json.ts';
import { MusterError } from '../errors.ts';
import type { PatchSurface, PodField, PodList, PodReader, WorkloadRef } from './preparer.ts';

/** The large lists of a Pod, parsed only for backends that declare that they read them. */
const LARGE_LISTS: readonly PodList[] = [
  'spec.volumes',
  'spec.initContainers',
  'containers.env',
  'containers.volumeMounts',
];
/** Fields of `spec` that contain these lists. */
export const LARGE_FIELDS: readonly string[] = [
  'containers',
  'initContainers',
  'ephemeralContainers',
  'volumes',
];

/** A backend's declaration of the parts of a Pod that it reads. */
export interface PodReaderNeeds {
  readonly name: string;
  readonly patchSurface: PatchSurface;
  readonly readsWholePods?: boolean;
}

/** Whether the backend gets the large lists of a Pod: it declares that it reads them or adds to them. */
export const readsLargeLists = ({ patchSurface, readsWholePods }: Omit<PodReaderNeeds, 'name'>): boolean =>
  readsWholePods === true || patchSurface.lists?.some((list) => LARGE_LISTS.includes(list)) === true;

/** The part of the Pod that the backend has declared to read. */
export const podPartFor = (backend: PodReaderNeeds, pod: PodReader): PodReader =>
  readsLargeLists(backend) ? pod : new PodPart(pod, backend.name);

/** A Pod without its large lists. Reading one of them throws, since an empty list would be misleading. */
class PodPart implements PodReader {
  readonly #pod: PodReader;
  readonly #backend: string;

  constructor(pod: PodReader, backend: string) {
    this.#pod = pod;
    this.#backend = backend;
  }

  get namespace(): string {
    return this.#pod.namespace;
  }

  get name(): string | undefined {
    return this.#pod.name;
  }

  get schedulerName(): string | undefined {
    return this.#pod.schedulerName;
  }

  get priorityClassName(): string | undefined {
    return this.#pod.priorityClassName;
  }

  get schedulingGroup(): string | undefined {
    return this.#pod.schedulingGroup;
  }

  get workloadRef(): WorkloadRef | undefined {
    return this.#pod.workloadRef;
  }

  get containers(): readonly string[] {
    return this.#pod.containers;
  }

  label(key: string): string | undefined {
    return this.#pod.label(key);
  }

  annotation(key: string): string | undefined {
    return this.#pod.annotation(key);
  }

  list(list: PodList, container?: string): readonly JsonObject[] {
    if (LARGE_LISTS.includes(list)) throw undeclared(this.#backend, list);
    return this.#pod.list(list, container);
  }

  field(field: PodField, container?: string): Json | undefined {
    return this.#pod.field(field, container);
  }

  at(path: readonly string[]): Json | undefined {
    const [room, place] = path;
    if (room === undefined || (room === 'spec' && (place === undefined || LARGE_FIELDS.includes(place)))) {
      throw undeclared(this.#backend, path.join('.') || 'the whole Pod');
    }
    return this.#pod.at(path);
  }
}

const undeclared = (backend: string, place: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `backend ${backend} looked at ${place}, which it is given only where it declares to look there`,
    'set readsWholePods, or declare to which of these lists it adds in patchSurface.lists',
  );
