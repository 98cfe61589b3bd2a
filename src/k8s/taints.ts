import { ownString, type Json } from '../json/json.ts';

/** A taint of a node or a cluster. */
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

/** Reads an entry of `tolerations`; an absent field is `''`. */
export const tolerationOf = (one: Json): Toleration => ({
  key: ownString(one, 'key') ?? '',
  operator: ownString(one, 'operator') ?? '',
  value: ownString(one, 'value') ?? '',
  effect: ownString(one, 'effect') ?? '',
});

/** Reads an entry of `taints`. */
export const taintOf = (one: Json): Taint => ({
  key: ownString(one, 'key') ?? '',
  value: ownString(one, 'value') ?? '',
  effect: ownString(one, 'effect') ?? '',
});

/** Returns the first taint with one of the effects that no toleration tolerates. */
export const untolerated = (
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
): Taint | undefined =>
  taints.find((taint) => effects.includes(taint.effect) && !tolerations.some((one) => tolerates(one, taint)));

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  // An empty key with Exists tolerates every taint; the API server refuses an empty key with another operator.
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || ((operator === '' || operator === 'Equal') && value === taint.value);
}
