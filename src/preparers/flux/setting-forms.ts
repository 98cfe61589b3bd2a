import { isLabelKey, isLabelValue } from '../../k8s/name-syntax.ts';
import { countOfText } from '../../k8s/quantity.ts';

/** A requirement of node affinity: the label `key` has one of `values`, or exists when `values` is empty. */
export interface RequiredNodeLabel {
  readonly key: string;
  readonly values: readonly string[];
}

/** How Pods of a gang keep away from each other. */
export type PodsApart = 'preferred' | 'required' | 'none';

/** Readers of settings: undefined for a text that does not have the form. */

export const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (text: string): T | undefined =>
    values.find((value) => value === text);

export const countTo =
  (most: number) =>
  (text: string): number | undefined =>
    /^[1-9][0-9]{0,5}$/.test(text) && Number(text) <= most ? Number(text) : undefined;

export const textLike =
  (pattern: RegExp, most: number) =>
  (text: string): string | undefined =>
    text.length <= most && pattern.test(text) ? text : undefined;

export const nameBy =
  (isName: (text: string) => boolean) =>
  (text: string): string | undefined =>
    isName(text) ? text : undefined;

const APART: Readonly<Record<string, PodsApart>> = {
  preferred: 'preferred',
  true: 'preferred',
  required: 'required',
  none: 'none',
  false: 'none',
};

export function nodeTerms(text: string): RequiredNodeLabel[] | undefined {
  const terms = text.split(',').map((term): RequiredNodeLabel | undefined => {
    const [key = '', values, ...more] = term.trim().split('=');
    const list = values?.split('|') ?? [];
    return isLabelKey(key) && more.length === 0 && list.every(isLabelValue)
      ? { key, values: list }
      : undefined;
  });
  const keys = new Set(terms.map((term) => term?.key));
  return terms.length <= 16 && keys.size === terms.length && terms.every((term) => term !== undefined)
    ? terms
    : undefined;
}

export function shmSize(text: string): string | undefined {
  const bytes = countOfText('memory', text);
  return bytes !== undefined && bytes > 0 && text.length <= 32 ? text : undefined;
}

/** `true` and `false`. */
export const truth = (text: string): boolean | undefined =>
  text === 'true' ? true : text === 'false' ? false : undefined;

export const apart = (text: string): PodsApart | undefined =>
  Object.hasOwn(APART, text) ? APART[text] : undefined;
