import { fault, type Fault } from '../api/fault.ts';
import { MusterError } from '../errors.ts';
import { MEMBERSHIP_LABELS, type Membership } from '../gang/membership.ts';
import { podPartFor, type PodReaderNeeds } from './pod-part.ts';
import {
  isPodRefused,
  PodRefused,
  POD_FIELDS,
  POD_LISTS,
  type PodPatch,
  type PodReader,
  type Preparer,
  type PatchSurface,
  type PodField,
  type PodList,
} from './preparer.ts';
import { isObject, type Json, type JsonObject } from '../json/json.ts';
import { GATE_POD_GANG_PENDING } from '../api/names.ts';

/** The members of a backend that prepare Pods. */
export interface PreparingBackend extends PatchOwner, PodReaderNeeds {
  preparePod(pod: PodReader, gang: Membership, patch: PodPatch): void;
}

/** Called with the name of a preparer that throws an error other than PodRefused. */
export type PrepareFailed = (name: string) => void;

/**
 * Runs the backend and then the preparers on one Pod. Each runs regardless of earlier failures, so that one answer names
 * every fault.
 * @param backend undefined: the Pod is not prepared for a scheduler
 * @returns the refusals; the Pod must not be patched when there are any
 * @throws the first defect, after all have run
 */
export function preparePod(
  backend: PreparingBackend | undefined,
  others: readonly Preparer[],
  given: { readonly pod: PodReader; readonly gang: Membership; readonly patch: PodPatch },
  failed?: PrepareFailed,
): Fault[] {
  const { pod, gang, patch } = given;
  const faults: Fault[] = [];
  const defects: unknown[] = [];
  const ask = (who: PatchOwner, kind: PreparerKind, prepare: (patch: PodPatch) => unknown): void => {
    try {
      const returned = prepare(guardedPatch(patch, who, kind));
      if (returned !== undefined) throw notSynchronous(kind, who.name, returned);
    } catch (thrown) {
      if (isPodRefused(thrown)) {
        if (thrown instanceof PodRefused && thrown.faults) faults.push(...thrown.faults);
        else faults.push(fault('BackendFailed', thrown.field, { detail: `${who.name}: ${thrown.message}` }));
        return;
      }
      failed?.(who.name);
      defects.push(thrown);
    }
  };
  if (backend !== undefined) {
    ask(backend, 'backend', (guarded) => backend.preparePod(podPartFor(backend, pod), gang, guarded));
  }
  for (const one of others) ask(one, 'preparer', (guarded) => one.prepare(pod, gang, guarded));
  if (defects.length > 0) throw defects[0];
  return faults;
}

/** The types allow an `async` method, whose patches would come too late and whose failure would end the process. */
function notSynchronous(kind: PreparerKind, name: string, returned: unknown): MusterError {
  Promise.resolve(returned).catch(() => undefined);
  const [called, elsewhere] =
    kind === 'backend' ? ['preparePod', 'syncPodGang'] : ['prepare', 'its own loop'];
  return new MusterError(
    'BACKEND_CONTRACT',
    `${kind} ${name} returned something from ${called}, which is synchronous and returns nothing`,
    `prepare the Pod from what ${called} is given; do the rest in ${elsewhere}`,
  );
}

/** Author of a patch, in messages. */
export type PreparerKind = 'backend' | 'preparer';

/** The backend or preparer of a patch, with its declared patch surface. */
export interface PatchOwner {
  readonly name: string;
  readonly patchSurface: PatchSurface;
  /** For a backend: the scheduler name of its Pods. Preparers have none. */
  readonly schedulerName?: string;
}

/** A patch that throws on changes outside the owner's surface, and on values that the API server could not read. */
export const guardedPatch = (patch: PodPatch, declared: PatchOwner, kind: PreparerKind): PodPatch =>
  new GuardedPatch(patch, declared, kind);

class GuardedPatch implements PodPatch {
  readonly #patch: PodPatch;
  readonly #declared: PatchOwner;
  /** For messages, such as `backend kai-scheduler`. */
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

  /** @param key of any type, since a module may send anything */
  #check(allowed: boolean | undefined, method: string, key: unknown, value: unknown): void {
    if (allowed && typeof value === 'string') return;
    const act = typeof key === 'string' && key !== '' ? `${method} ${key}` : method;
    throw allowed ? noText(this.#who, act) : outsideSurface(this.#who, act);
  }
}

/** Membership labels are never allowed, whatever the surface declares: nobody moves a Pod to another gang. */
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

/** Raised here, because the validating webhook would refuse the Pod and blame another webhook. */
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
