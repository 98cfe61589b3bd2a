/** Numbers as a panel shows them, by Grafana's names of units. */

const UNITS: Readonly<Record<string, readonly (readonly [from: number, divisor: number, unit: string])[]>> = {
  s: [
    [86_400, 86_400, ' d'],
    [3_600, 3_600, ' h'],
    [60, 60, ' min'],
    [1, 1, ' s'],
    [0, 0.001, ' ms'],
  ],
  percentunit: [[0, 0.01, ' %']],
  bytes: [[0, 1_048_576, ' MiB']],
  reqps: [[0, 1, ' /s']],
  ops: [[0, 1, ' /s']],
  short: [
    [1_000, 1_000, ' k'],
    [0, 1, ''],
  ],
};

/** Three figures at most, with the unit that keeps them few. */
export function quantityText(value: number, unit: string): string {
  if (value === 0) return unit === 's' ? '0 s' : `0${UNITS[unit]?.at(-1)?.[2] ?? ''}`;
  const [, divisor = 1, name = ''] = UNITS[unit]?.find(([from]) => Math.abs(value) >= from) ?? [];
  const number = value / divisor;
  const digits = Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;
  return `${Number(number.toFixed(digits))}${name}`;
}

/** A round number, in the unit that it is shown in, that is at least as large: where an axis ends. */
export function ceilingOf(largest: number, unit: string): number {
  if (largest <= 0) return 1;
  const [, divisor = 1] = UNITS[unit]?.find(([from]) => largest >= from) ?? [];
  const power = 10 ** Math.floor(Math.log10(largest / divisor));
  const steps = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
  return (steps.find((step) => step * power * divisor >= largest * 0.999) ?? 10) * power * divisor;
}
