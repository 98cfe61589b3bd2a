import type { PodController } from '../api/pod-origin.ts';
import type { PodMarks } from './kind.ts';

/** A field of a Pod that was read, and its value. */
interface Asked {
  readonly of: 'label' | 'annotation' | 'name';
  readonly key: string;
  readonly answer: string | undefined;
}

/** A result with the inputs that it was computed from. */
interface Known<Outcome> {
  readonly controller: PodController;
  readonly under: unknown;
  readonly asked: readonly Asked[];
  readonly outcome: Outcome;
}

/** Number of remembered results: groups of gangs whose Pods are created at the same time. */
const MOST = 8;
/** Longest value that is remembered; no name is longer. */
const MOST_LETTERS = 253;

/**
 * Caches a result for all Pods with the same values in the fields that the computation read: the Pods of a workload are
 * created one after the other and hardly differ in these fields.
 */
export class RememberedNames<Outcome> {
  readonly #known: Known<Outcome>[] = [];
  #next = 0;

  /** @param under another input beside the Pod, compared by identity */
  find(pod: PodMarks, under: unknown): Outcome | undefined {
    const { controller } = pod;
    if (controller === undefined) return undefined;
    for (const one of this.#known) {
      if (one.under === under && isSame(one.controller, controller) && answersSame(pod, one.asked)) {
        return one.outcome;
      }
    }
    return undefined;
  }

  remember({ pod, asked }: ListeningMarks, under: unknown, outcome: Outcome): void {
    const { controller } = pod;
    if (controller === undefined) return;
    const { apiVersion, kind, name, uid } = controller;
    const texts = [apiVersion, kind, name, uid, ...asked.map(({ answer = '' }) => answer)];
    if (texts.some(({ length }) => length > MOST_LETTERS)) return;
    this.#known[this.#next] = { controller, under, asked, outcome };
    this.#next = (this.#next + 1) % MOST;
  }
}

/** Passes reads on to a Pod and records them. */
export class ListeningMarks implements PodMarks {
  readonly pod: PodMarks;
  readonly asked: Asked[] = [];

  constructor(pod: PodMarks) {
    this.pod = pod;
  }

  label(key: string): string | undefined {
    return this.#keep({ of: 'label', key, answer: this.pod.label(key) });
  }

  annotation(key: string): string | undefined {
    return this.#keep({ of: 'annotation', key, answer: this.pod.annotation(key) });
  }

  get name(): string | undefined {
    return this.#keep({ of: 'name', key: '', answer: this.pod.name });
  }

  /** Not recorded, since a controller is always compared. */
  get controller(): PodController | undefined {
    return this.pod.controller;
  }

  #keep(asked: Asked): string | undefined {
    this.asked.push(asked);
    return asked.answer;
  }
}

// Fields that differ most often are compared first.
const isSame = (a: PodController, b: PodController): boolean =>
  a.name === b.name && a.uid === b.uid && a.kind === b.kind && a.apiVersion === b.apiVersion;

function answersSame(pod: PodMarks, asked: readonly Asked[]): boolean {
  for (const { of, key, answer } of asked) {
    const now = of === 'label' ? pod.label(key) : of === 'annotation' ? pod.annotation(key) : pod.name;
    if (now !== answer) return false;
  }
  return true;
}
