import { own, ownList, ownObject, ownString, type JsonObject } from '../api/json.ts';
import { GATE_POD_GANG_PENDING } from '../api/names.ts';
import type { Backend, PatchSurface, PodPatch } from '../backends/backend.ts';
import { MusterError } from '../errors.ts';
import { MEMBERSHIP_LABELS } from '../gang/membership.ts';
import { ObjectEdit, type Change } from './json-patch.ts';

/**
 * The patch of one Pod. It knows the Pod as received and works out the operations itself; nothing is cloned or
 * compared, which is what keeps a review at the price of parsing it (docs/adr/0002).
 */
export class JsonPodPatch {
  readonly #pod: JsonObject;
  readonly #spec: ObjectEdit;
  readonly #annotations: ObjectEdit;
  readonly #labels: ObjectEdit;
  readonly #gates: { name: string; why: string }[] = [];

  /** @param pod the received Pod; `metadata` is an object, as the review was checked for */
  constructor(pod: JsonObject) {
    this.#pod = pod;
    const metadata = own(pod, 'metadata');
    this.#spec = new ObjectEdit('/spec', own(pod, 'spec'));
    this.#annotations = new ObjectEdit('/metadata/annotations', own(metadata, 'annotations'));
    this.#labels = new ObjectEdit('/metadata/labels', own(metadata, 'labels'));
  }

  setSchedulerName(name: string, why: string): void {
    this.#spec.set('schedulerName', name, why);
  }

  annotate(key: string, value: string, why: string): void {
    this.#annotations.set(key, value, why);
  }

  label(key: string, value: string, why: string): void {
    this.#labels.set(key, value, why);
  }

  addGate(name: string, why: string): void {
    const given = ownList(ownObject(this.#pod, 'spec'), 'schedulingGates') ?? [];
    const present =
      given.some((gate) => ownString(gate, 'name') === name) ||
      this.#gates.some((gate) => gate.name === name);
    if (!present) this.#gates.push({ name, why });
  }

  setSchedulingGroup(podGroupName: string, why: string): void {
    const group = ownObject(ownObject(this.#pod, 'spec'), 'schedulingGroup');
    if (ownString(group, 'podGroupName') === podGroupName) this.#spec.unset('schedulingGroup');
    else this.#spec.set('schedulingGroup', { podGroupName }, why);
  }

  setWorkloadRef({ name, podGroup }: { name: string; podGroup: string }, why: string): void {
    const given = ownObject(ownObject(this.#pod, 'spec'), 'workloadRef');
    const same = ownString(given, 'name') === name && ownString(given, 'podGroup') === podGroup;
    if (same) this.#spec.unset('workloadRef');
    else this.#spec.set('workloadRef', { name, podGroup }, why);
  }

  /** The operations in a fixed order, so that the same Pod gives the same bytes. */
  changes(): Change[] {
    const changes: Change[] = [];
    if (this.#gates.length > 0) {
      if (ownList(own(this.#pod, 'spec'), 'schedulingGates') === undefined) {
        const why = this.#gates.map((gate) => gate.why).join('; ');
        const gates = this.#gates.map(({ name }) => ({ name }));
        this.#spec.set('schedulingGates', gates, why);
      } else {
        for (const { name, why } of this.#gates) {
          changes.push({ operation: { op: 'add', path: '/spec/schedulingGates/-', value: { name } }, why });
        }
      }
    }
    return this.#labels.changes(this.#annotations.changes(this.#spec.changes(changes)));
  }
}

type Declared = Pick<Backend, 'name' | 'schedulerName' | 'patchSurface'>;

/**
 * `patch`, narrowed to what `backend` declared. Anything else is the backend's defect and throws, and so is a value
 * that is no text: the API server could not read the Pod it would make.
 */
export const withinSurface = (patch: PodPatch, backend: Declared): PodPatch =>
  new GuardedPatch(patch, backend);

class GuardedPatch implements PodPatch {
  readonly #patch: PodPatch;
  readonly #backend: Declared;

  constructor(patch: PodPatch, backend: Declared) {
    this.#patch = patch;
    this.#backend = backend;
  }

  setSchedulerName(scheduler: string, why: string): void {
    const { name, schedulerName, patchSurface } = this.#backend;
    this.#check(patchSurface.schedulerName, 'setSchedulerName', '', scheduler);
    if (scheduler !== schedulerName) throw otherScheduler(name, scheduler, schedulerName);
    this.#patch.setSchedulerName(scheduler, why);
  }

  annotate(key: string, value: string, why: string): void {
    this.#check(this.#backend.patchSurface.annotations?.includes(key), 'annotate', key, value);
    this.#patch.annotate(key, value, why);
  }

  label(key: string, value: string, why: string): void {
    this.#check(mayLabel(this.#backend.patchSurface, key), 'label', key, value);
    this.#patch.label(key, value, why);
  }

  addGate(gate: string, why: string): void {
    const { gates } = this.#backend.patchSurface;
    this.#check(gate !== GATE_POD_GANG_PENDING && gates?.includes(gate), 'addGate', gate, gate);
    this.#patch.addGate(gate, why);
  }

  setSchedulingGroup(podGroupName: string, why: string): void {
    this.#check(this.#backend.patchSurface.schedulingGroup, 'setSchedulingGroup', '', podGroupName);
    this.#patch.setSchedulingGroup(podGroupName, why);
  }

  setWorkloadRef(reference: { name: string; podGroup: string }, why: string): void {
    const { workloadRef } = this.#backend.patchSurface;
    this.#check(workloadRef, 'setWorkloadRef', '', reference.name);
    this.#check(workloadRef, 'setWorkloadRef', '', reference.podGroup);
    this.#patch.setWorkloadRef(reference, why);
  }

  #check(allowed: boolean | undefined, method: string, key: string, value: unknown): void {
    if (allowed && typeof value === 'string') return;
    const act = key === '' ? method : `${method} ${key}`;
    throw allowed ? noText(this.#backend.name, act) : outsideSurface(this.#backend.name, act);
  }
}

/** A backend never moves a Pod to another gang, whatever it declared. */
const mayLabel = (surface: PatchSurface, key: string): boolean =>
  (surface.labels?.includes(key) ?? false) && !(MEMBERSHIP_LABELS as readonly string[]).includes(key);

const outsideSurface = (backend: string, act: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `backend ${backend} called ${act}, which is outside its patchSurface`,
    "declare it in the backend's patchSurface, or leave the Pod alone",
  );

const noText = (backend: string, act: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `backend ${backend} called ${act} with a value that is no string`,
    'give the value as a string',
  );

/** The validating webhook would refuse the Pod and blame another webhook for it. */
const otherScheduler = (backend: string, found: string, declared: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `backend ${backend} called setSchedulerName with ${found}, but its schedulerName is ${declared}`,
    "set the backend's own schedulerName",
  );
