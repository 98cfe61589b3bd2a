import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import type { PriorityClass } from '../api/priority-class.ts';
import type { PodField, PodList, PodPatch } from '../preparers/preparer.ts';
import { ObjectEdit, type Change } from './json-patch.ts';
import { ListEdits } from './list-edits.ts';

/**
 * The patch of one Pod. It knows the Pod as received and works out the operations itself; nothing is cloned or
 * compared, which is what keeps a review at the price of parsing it (docs/adr/0002).
 */
export class JsonPodPatch implements PodPatch {
  readonly #pod: JsonObject;
  readonly #entire: () => JsonObject;
  readonly #spec: ObjectEdit;
  readonly #annotations: ObjectEdit;
  readonly #labels: ObjectEdit;
  /** Made for the few who need it. */
  #lists: ListEdits | undefined;
  readonly #gates: { name: string; why: string }[] = [];

  /**
   * @param pod the received Pod; `metadata` is an object, as the review was checked for
   * @param entire the Pod with the lists of its containers, where those were left out of `pod`
   */
  constructor(pod: JsonObject, entire = () => pod) {
    this.#pod = pod;
    this.#entire = entire;
    const metadata = own(pod, 'metadata');
    this.#spec = new ObjectEdit('/spec', own(pod, 'spec'));
    this.#annotations = new ObjectEdit('/metadata/annotations', own(metadata, 'annotations'));
    this.#labels = new ObjectEdit('/metadata/labels', own(metadata, 'labels'));
  }

  setSchedulerName(name: string, why: string): void {
    this.#spec.set('schedulerName', name, why);
  }

  /** Kubernetes fills in number and policy anew, from the class, and refuses the Pod where those of another stand there. */
  setPriorityClass({ name, preempts }: Pick<PriorityClass, 'name' | 'preempts'>, why: string): void {
    const policy = own(own(this.#pod, 'spec'), 'preemptionPolicy');
    this.#spec.set('priorityClassName', name, why);
    this.#spec.remove('priority', why);
    if ((policy === 'Never') === preempts) this.#spec.remove('preemptionPolicy', why);
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

  add(list: PodList, item: JsonObject, why: string, container?: string): void {
    (this.#lists ??= new ListEdits(this.#entire())).add(list, item, why, container);
  }

  set(field: PodField, value: Json, why: string, container?: string): void {
    (this.#lists ??= new ListEdits(this.#entire())).set(field, value, why, container);
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
    this.#labels.changes(this.#annotations.changes(this.#spec.changes(changes)));
    return this.#lists?.changes(changes) ?? changes;
  }
}
