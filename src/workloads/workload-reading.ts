import { MOST_PODS } from '../api/most-pods.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { FieldFaults } from '../k8s/field-reader.ts';
import { quoted } from '../text/printable.ts';
import { fieldOf, path, valueAt, type Path } from './path.ts';

/** Reads the numbers of one workload and collects its faults, a sentence each. */
export class WorkloadReading extends FieldFaults {
  readonly #object: JsonObject;

  constructor(object: JsonObject) {
    super();
    this.#object = object;
  }

  get faults(): string[] {
    return this.wrongs.map(({ field, message }) => `${field}: ${message}`);
  }

  wrongAt(at: Path, message: string): void {
    this.wrong(fieldOf(at), message);
  }

  at(steps: Path): Json | undefined {
    return valueAt(this.#object, steps);
  }

  /**
   * A number of Pods; `fallback` when the field is absent or an empty string. Digits in quotes are accepted, as they occur
   * in YAML.
   */
  count<T extends number | undefined>(steps: Path, fallback: T): number | T {
    const value = this.at(steps);
    if (value === undefined || value === null || value === '') return fallback;
    const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MOST_PODS) {
      return number;
    }
    this.wrongAt(steps, `${quoted(value)} is no number of Pods; give a whole number from 0 to ${MOST_PODS}`);
    return fallback;
  }

  /** {@link count} for a field whose keys contain no dots. */
  countOf<T extends number | undefined>(field: string, fallback: T): number | T {
    return this.count(path(field), fallback);
  }

  /** The product of `numbers`, which must be a valid number of Pods too. @param at field to report when it is not */
  times(at: Path, ...numbers: readonly number[]): number {
    const product = numbers.reduce((sum, number) => sum * number, 1);
    if (product <= MOST_PODS) return product;
    this.wrongAt(at, `makes more than ${MOST_PODS} Pods in all; lower it`);
    return 0;
  }
}
