import type { Estimate } from './interval.ts';

/** UNDECIDED: the limit lies within the interval, so this run cannot tell. */
export type Verdict = 'PASS' | 'FAIL' | 'UNDECIDED' | 'NOT MEASURED';

/** What is to be reached. */
export type Limit = { readonly most: number } | { readonly least: number };

/** One figure, in the form in which it is kept; with a limit it is a goal. */
export interface Figure {
  readonly stage: string;
  readonly name: string;
  /** null: not measured. */
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly limit?: string;
  readonly verdict?: Verdict;
}

/** What a stage of the bench has to tell: its tables by name, each as rows of cells, and its figures. */
export interface StageReport {
  readonly tables: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly figures: readonly Figure[];
  /** What speaks against the figures of this run. */
  readonly notes?: readonly string[];
}

export function figure(stage: string, name: string, estimate: Estimate, limit?: Limit): Figure {
  const { value, low, high } = estimate;
  const measured = { stage, name, value: finite(value), low: finite(low), high: finite(high) };
  if (limit === undefined) return measured;
  const text = 'most' in limit ? `≤ ${limit.most}` : `≥ ${limit.least}`;
  return { ...measured, limit: text, verdict: verdictOf(estimate, limit) };
}

function verdictOf({ value, low, high }: Estimate, limit: Limit): Verdict {
  if (Number.isNaN(value)) return 'NOT MEASURED';
  const [surely, surelyNot] =
    'most' in limit ? [high <= limit.most, low > limit.most] : [low >= limit.least, high < limit.least];
  return surely ? 'PASS' : surelyNot ? 'FAIL' : 'UNDECIDED';
}

const finite = (value: number): number | null =>
  Number.isFinite(value) ? Number(value.toPrecision(5)) : null;

/** The goals, one a line, and their count. */
export function goalLines(figures: readonly Figure[], quick: boolean): string[] {
  const goals = figures.filter(({ limit }) => limit !== undefined);
  const rows = goals.map(({ stage, name, value, low, high, limit = '', verdict = '' }) => [
    stage,
    name,
    short(value),
    low === high ? '' : `${short(low)} … ${short(high)}`,
    limit,
    quick ? 'not judged' : verdict,
  ]);
  const lines = aligned([['stage', 'goal', 'figure', '95 %', 'limit', 'verdict'], ...rows]);
  if (quick) return lines;
  const count = (verdict: Verdict): string =>
    `${goals.filter((goal) => goal.verdict === verdict).length} ${verdict.toLowerCase()}`;
  return [...lines, '', (['PASS', 'FAIL', 'UNDECIDED', 'NOT MEASURED'] as const).map(count).join(', ')];
}

/** Three digits and no more: the fourth is of the day. */
export const short = (value: number | null): string =>
  value === null || !Number.isFinite(value)
    ? '–'
    : Math.abs(value) >= 100
      ? value.toFixed(0)
      : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);

/** A quotient with its interval, where there is one. */
export function withInterval({ value, low, high }: Estimate): string {
  if (Number.isNaN(value)) return '–';
  return value.toFixed(2) + (Number.isFinite(low) ? ` (${low.toFixed(2)} … ${high.toFixed(2)})` : '');
}

/** A Markdown table whose columns also line up in a terminal; numbers to the right. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const head = rows[0] ?? [];
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const right = head.map((_, column) =>
    rows.slice(1).every((row) => /^([–\d-]|≤|≥)/.test(row[column] ?? '')),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (right[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (right[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`;
  return [line(head), rule, ...rows.slice(1).map(line)];
}
