import { isObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import {
  PodRefused,
  type PodPatch,
  type PodField,
  type PodList,
  type WorkloadRef,
} from '../preparers/preparer.ts';
import { MusterError } from '../errors.ts';

/** Edits that one Pod may get: more than any scheduler needs, and few enough for an answer. */
const MOST_EDITS = 256;

type Edit = readonly Json[];

/** The module and method that made the edits, for errors. */
export interface EditSource {
  /** Title of the module, such as `backend line-scheduler`. */
  readonly who: string;
  readonly method: 'preparePod' | 'prepare';
}

/**
 * Applies the module's edits to a Pod's patch. The patch is limited to the surface that the module declared, and refuses
 * every other field.
 * @throws the patch's own error; MusterError BACKEND_CONTRACT for a malformed edit
 */
export function replay(who: EditSource, said: Json, patch: PodPatch): unknown {
  const edits =
    isObject(said) && Array.isArray(said['edits']) ? (said['edits'] as readonly Json[]) : undefined;
  if (edits === undefined || edits.length > MOST_EDITS) throw noEdits(who);
  for (const edit of edits) {
    if (!Array.isArray(edit)) throw noEdits(who);
    apply(who, edit as Edit, patch);
  }
  return isObject(said) && said['returned'] === true ? 'something' : undefined;
}

function apply(who: EditSource, [method, ...given]: Edit, patch: PodPatch): void {
  // The patch itself refuses values of the wrong type, in words for the module's author.
  const [first, second, third, fourth] = given as [never, never, never, never];
  const reason = (why: Json | undefined): string => (typeof why === 'string' ? why.slice(0, 256) : '');
  const name = typeof method === 'string' ? method : '';
  switch (name) {
    case 'setSchedulerName':
    case 'addGate':
    case 'setSchedulingGroup':
      return patch[name](first, reason(second));
    case 'annotate':
    case 'label':
      return patch[name](first, second, reason(third));
    case 'setWorkloadRef': {
      const [workload, podGroup] = ['name', 'podGroup'].map((key) => ownString(first, key));
      if (workload === undefined || podGroup === undefined) throw noEdits(who);
      return patch.setWorkloadRef({ name: workload, podGroup }, reason(second));
    }
    case 'add':
    case 'set':
      return patch[name](first, second, reason(third), typeof fourth === 'string' ? fourth : undefined);
    default:
      throw noEdits(who);
  }
}

const noEdits = ({ who, method }: EditSource): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `${who} answered ${method} with what is no list of edits of a Pod, or a list of more than ${MOST_EDITS}`,
    `speak to the Pod through the patch that ${method} is given`,
  );

/** The module's error of `preparePod`, with the class that a built-in backend would have thrown. */
export const rethrown = (field: string | undefined, message: string): Error =>
  field === undefined ? new Error(message) : new PodRefused(field, message);

/** Records a module's edits in its process, for {@link replay} to apply them in Muster's. */
class RecordedPatch implements PodPatch {
  readonly edits: unknown[][] = [];

  setSchedulerName(name: string, why: string): void {
    this.#record('setSchedulerName', name, why);
  }

  annotate(key: string, value: string, why: string): void {
    this.#record('annotate', key, value, why);
  }

  label(key: string, value: string, why: string): void {
    this.#record('label', key, value, why);
  }

  addGate(name: string, why: string): void {
    this.#record('addGate', name, why);
  }

  setSchedulingGroup(podGroupName: string, why: string): void {
    this.#record('setSchedulingGroup', podGroupName, why);
  }

  setWorkloadRef(reference: WorkloadRef, why: string): void {
    this.#record('setWorkloadRef', reference, why);
  }

  add(list: PodList, item: JsonObject, why: string, container?: string): void {
    this.#record('add', list, item, why, container);
  }

  set(field: PodField, value: Json, why: string, container?: string): void {
    this.#record('set', field, value, why, container);
  }

  #record(...edit: unknown[]): void {
    if (this.edits.length >= MOST_EDITS) throw new Error(`a Pod gets ${MOST_EDITS} edits at most`);
    this.edits.push(edit);
  }
}

/** The edits of one call. @param prepare returns nothing; a returned value is reported */
export function recorded(prepare: (patch: PodPatch) => unknown): JsonObject {
  const patch = new RecordedPatch();
  const returned = prepare(patch);
  const edits = patch.edits as Json[];
  if (returned === undefined) return { edits };
  Promise.resolve(returned).catch(() => undefined);
  return { edits, returned: true };
}
