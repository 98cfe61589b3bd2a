import { own, type Json } from '../json/json.ts';

/** Path of a field: keys of objects and positions in lists. */
export type Path = readonly (string | number)[];

/** Parses a path such as `spec.tasks`. Keys that contain dots need an array instead. */
export const path = (text: string): Path => text.split('.');

/** A path in Kubernetes' notation, such as `spec.tasks[0].replicas`. */
export const fieldOf = (steps: Path): string =>
  steps.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );

/** {@link fieldOf} with keys that contain dots in brackets, so that the path can be parsed again. */
export const placeOf = (steps: Path): string =>
  steps.reduce<string>(
    (text, step) => text + (typeof step === 'number' ? `[${step}]` : stepTo(step, text === '')),
    '',
  );

/** A key in the text of a path; in brackets when it is not a plain word. */
export const stepTo = (key: string, isFirst: boolean): string =>
  !/^[\w-]+$/.test(key) ? `[${key}]` : isFirst ? key : `.${key}`;

/** The value at `steps`; undefined when there is none. */
export function valueAt(root: Json | undefined, steps: Path): Json | undefined {
  let value = root;
  for (const step of steps) {
    value =
      typeof step === 'number'
        ? Array.isArray(value)
          ? (value as readonly Json[])[step]
          : undefined
        : own(value, step);
  }
  return value;
}
