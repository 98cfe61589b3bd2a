import { own, type Json } from '../json/json.ts';

/** Where a field stands: keys of objects and positions in lists. */
export type Path = readonly (string | number)[];

/** `spec.tasks` as a path. Names with dots in them are written as paths. */
export const path = (text: string): Path => text.split('.');

/** `spec.tasks[0].replicas`, as Kubernetes writes it. */
export const fieldOf = (steps: Path): string =>
  steps.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );

/** {@link fieldOf}, with keys in brackets that have dots of their own: what can be looked up in a file again. */
export const placeOf = (steps: Path): string =>
  steps.reduce<string>(
    (text, step) => text + (typeof step === 'number' ? `[${step}]` : stepTo(step, text === '')),
    '',
  );

/** A key in a field's path; in brackets where it would not be told from the rest. */
export const stepTo = (key: string, isFirst: boolean): string =>
  !/^[\w-]+$/.test(key) ? `[${key}]` : isFirst ? key : `.${key}`;

/** What stands at `steps`; undefined where there is nothing. */
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
