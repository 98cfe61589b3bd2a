import type { Palette } from './palette.ts';

/** Rows with their cells below each other, the first row being the heads. */
export function columns(rows: readonly (readonly string[])[], palette: Palette): string[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows.map((row, line) => {
    const text = row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd((widths[index] ?? 0) + 2)))
      .join('');
    return line === 0 ? palette.strong(text) : text;
  });
}
