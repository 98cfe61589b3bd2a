/**
 * A LabelSelector of Kubernetes (apimachinery `meta/v1`). All requirements have to hold; an empty selector selects
 * everything.
 */
export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelRequirement[];
}

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** At least one value for In and NotIn, none for the other operators. */
  readonly values: readonly string[];
}

export type LabelOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

export const EVERYTHING: LabelSelector = { matchLabels: {}, matchExpressions: [] };

export const takesEverything = ({ matchLabels, matchExpressions }: LabelSelector): boolean =>
  matchExpressions.length === 0 && Object.keys(matchLabels).length === 0;

/** Describes the first requirement that the labels do not meet, in words that follow "it"; undefined where all hold. */
export function unmetRequirement(
  { matchLabels, matchExpressions }: LabelSelector,
  labels: ReadonlyMap<string, string>,
): string | undefined {
  for (const [key, value] of Object.entries(matchLabels)) {
    if (labels.get(key) !== value) return `needs label ${key}=${value}, ${has(labels, key)}`;
  }
  for (const { key, operator, values } of matchExpressions) {
    if (holds(operator, labels.get(key), values)) continue;
    if (operator === 'DoesNotExist') return `must not have label ${key}, ${has(labels, key)}`;
    const word = operator === 'NotIn' ? 'must not have' : 'needs';
    const one =
      values.length === 0
        ? ''
        : ` ${values.length === 1 ? 'with value' : 'with one of'} ${values.join(', ')}`;
    return `${word} label ${key}${one}, ${has(labels, key)}`;
  }
  return undefined;
}

/** Whether the labels meet a requirement. NotIn also holds where the label is absent, as in Kubernetes. */
export function holds(
  operator: LabelOperator,
  value: string | undefined,
  values: readonly string[],
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

function has(labels: ReadonlyMap<string, string>, key: string): string {
  const value = labels.get(key);
  return value === undefined ? 'has none' : `has ${key}=${value}`;
}
