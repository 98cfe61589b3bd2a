/** A figure and the interval that it lies in, 95 times in 100. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export const NOTHING: Estimate = { value: Number.NaN, low: Number.NaN, high: Number.NaN };

/** A figure that was counted and not sampled: there is nothing to doubt. */
export const exactly = (value: number): Estimate => ({ value, low: value, high: value });

/** Student's t for 95 %, two-sided, by degrees of freedom from 1; further ones by the series, right to 0.001. */
const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
const studentsT = (freedom: number): number =>
  T[freedom - 1] ?? 1.96 + 2.372 / freedom + 2.82 / (freedom * freedom);

/** The mean of samples that know nothing of each other. */
export function meanOf(values: readonly number[]): Estimate {
  const value = plainMean(values);
  const count = values.length;
  if (count < 2) return { value, low: -Infinity, high: Infinity };
  const variance = values.reduce((sum, one) => sum + (one - value) ** 2, 0) / (count - 1);
  const half = studentsT(count - 1) * Math.sqrt(variance / count);
  return { value, low: value - half, high: value + half };
}

/**
 * How many times `lower` is `upper`, of samples that were taken in pairs: the quotient of the means, so that a rare
 * collection of garbage counts for what it costs, and an interval from what the pairs leave over, so that a mood which
 * both have had widens nothing.
 */
export function ratioOf(upper: readonly number[], lower: readonly number[]): Estimate {
  if (upper.length !== lower.length) throw new Error('samples that are compared come in pairs');
  const base = plainMean(lower);
  const value = plainMean(upper) / base;
  const rest = meanOf(upper.map((one, index) => (one - value * (lower[index] ?? Number.NaN)) / base));
  return { value, low: value + rest.low - rest.value, high: value + rest.high - rest.value };
}

export const plainMean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** The middle one, or the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return (low + high) / 2;
}

/** The value that `share` of all are not above; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}
