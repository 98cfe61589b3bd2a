import { ownString, type Json } from '../json/json.ts';

/** What keeps Pods off a node, or workloads off a cluster. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

export interface Toleration {
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  readonly effect: string;
}

/** Entries of `tolerations`; what is not there is `''`. */
export const tolerationOf = (one: Json): Toleration => ({
  key: ownString(one, 'key') ?? '',
  operator: ownString(one, 'operator') ?? '',
  value: ownString(one, 'value') ?? '',
  effect: ownString(one, 'effect') ?? '',
});

/** Entries of `taints`. */
export const taintOf = (one: Json): Taint => ({
  key: ownString(one, 'key') ?? '',
  value: ownString(one, 'value') ?? '',
  effect: ownString(one, 'effect') ?? '',
});

/** The first taint with one of the effects that nothing tolerates. */
export const untolerated = (
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
): Taint | undefined =>
  taints.find((taint) => effects.includes(taint.effect) && !tolerations.some((one) => tolerates(one, taint)));

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  // An empty key with Exists tolerates everything; with anything else the API server refuses it.
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || ((operator === '' || operator === 'Equal') && value === taint.value);
}
