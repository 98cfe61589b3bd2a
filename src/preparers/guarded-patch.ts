import { isObject, type Json, type JsonObject } from '../json/json.ts';
import { GATE_POD_GANG_PENDING } from '../api/names.ts';
import { MusterError } from '../errors.ts';
import { MEMBERSHIP_LABELS } from '../gang/membership.ts';
import {
  POD_FIELDS,
  POD_LISTS,
  type PatchSurface,
  type PodField,
  type PodList,
  type PodPatch,
} from './preparer.ts';

/** What messages call the author of a patch. */
export type PreparerKind = 'backend' | 'preparer';

/** The backend or preparer that makes a patch, with its declared surface. */
export interface PatchOwner {
  readonly name: string;
  readonly patchSurface: PatchSurface;
  /** Of a backend: what its Pods carry. Only a backend has one. */
  readonly schedulerName?: string;
}

/** A patch that throws on changes outside the owner's surface, and on values that the API server could not read. */
export const guardedPatch = (patch: PodPatch, declared: PatchOwner, kind: PreparerKind): PodPatch =>
  new GuardedPatch(patch, declared, kind);

class GuardedPatch implements PodPatch {
  readonly #patch: PodPatch;
  readonly #declared: PatchOwner;
  /** For people: `backend kai-scheduler`. */
  readonly #who: string;

  constructor(patch: PodPatch, declared: PatchOwner, kind: PreparerKind) {
    this.#patch = patch;
    this.#declared = declared;
    this.#who = `${kind} ${declared.name}`;
  }

  setSchedulerName(scheduler: string, why: string): void {
    const { schedulerName, patchSurface } = this.#declared;
    this.#check(patchSurface.schedulerName, 'setSchedulerName', '', scheduler);
    if (scheduler !== schedulerName) throw otherScheduler(this.#who, scheduler, schedulerName ?? 'none');
    this.#patch.setSchedulerName(scheduler, why);
  }

  annotate(key: string, value: string, why: string): void {
    this.#check(this.#declared.patchSurface.annotations?.includes(key), 'annotate', key, value);
    this.#patch.annotate(key, value, why);
  }

  label(key: string, value: string, why: string): void {
    this.#check(mayLabel(this.#declared.patchSurface, key), 'label', key, value);
    this.#patch.label(key, value, why);
  }

  addGate(gate: string, why: string): void {
    const { gates } = this.#declared.patchSurface;
    this.#check(gate !== GATE_POD_GANG_PENDING && gates?.includes(gate), 'addGate', gate, gate);
    this.#patch.addGate(gate, why);
  }

  setSchedulingGroup(podGroupName: string, why: string): void {
    this.#check(this.#declared.patchSurface.schedulingGroup, 'setSchedulingGroup', '', podGroupName);
    this.#patch.setSchedulingGroup(podGroupName, why);
  }

  setWorkloadRef(reference: { name: string; podGroup: string }, why: string): void {
    const { workloadRef } = this.#declared.patchSurface;
    this.#check(workloadRef, 'setWorkloadRef', '', reference.name);
    this.#check(workloadRef, 'setWorkloadRef', '', reference.podGroup);
    this.#patch.setWorkloadRef(reference, why);
  }

  add(list: PodList, item: JsonObject, why: string, container?: string): void {
    this.#check(this.#declared.patchSurface.lists?.includes(list), 'add', list, list);
    const key = POD_LISTS[list];
    if (!isObject(item) || (key !== undefined && typeof item[key] !== 'string')) {
      throw noItem(this.#who, `add ${list}`, key);
    }
    this.#patch.add(list, item, why, container);
  }

  set(field: PodField, value: Json, why: string, container?: string): void {
    this.#check(this.#declared.patchSurface.fields?.includes(field), 'set', field, field);
    const fits = (one: unknown): boolean => typeof one === 'string';
    if (POD_FIELDS[field] === 'text' ? !fits(value) : !(Array.isArray(value) && value.every(fits))) {
      throw noItem(this.#who, `set ${field}`, undefined);
    }
    this.#patch.set(field, value, why, container);
  }

  /** @param key what a module sends as one may be anything */
  #check(allowed: boolean | undefined, method: string, key: unknown, value: unknown): void {
    if (allowed && typeof value === 'string') return;
    const act = typeof key === 'string' && key !== '' ? `${method} ${key}` : method;
    throw allowed ? noText(this.#who, act) : outsideSurface(this.#who, act);
  }
}

/** Nobody moves a Pod to another gang, whatever was declared. */
const mayLabel = (surface: PatchSurface, key: string): boolean =>
  (surface.labels?.includes(key) ?? false) && !(MEMBERSHIP_LABELS as readonly string[]).includes(key);

const outsideSurface = (who: string, act: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `${who} called ${act}, which is outside its patchSurface`,
    'declare it in its patchSurface, or leave the Pod alone',
  );

const noText = (who: string, act: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `${who} called ${act} with a value that is no string`,
    'give the value as a string',
  );

/** The validating webhook would refuse the Pod and blame another webhook for it. */
const otherScheduler = (who: string, found: string, declared: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `${who} called setSchedulerName with ${found}, but its schedulerName is ${declared}`,
    'set its own schedulerName',
  );

const noItem = (who: string, act: string, key: string | undefined): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `${who} called ${act} with what cannot stand there`,
    key === undefined ? 'give what the field takes' : `give an object with a ${key}`,
  );
