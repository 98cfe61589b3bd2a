import type { Palette } from './palette.ts';
import { reflowed } from './wrap.ts';

/** What is narrower is hard to read. */
const NARROWEST_CELL = 24;

/**
 * Rows with their cells below each other, the first row being the heads.
 * @param width a longer row goes on in further lines, below its last cell
 */
export function columns(
  rows: readonly (readonly string[])[],
  palette: Palette,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  const lastCell = (cell: string): string =>
    reflowed(cell, Math.max(width - before, NARROWEST_CELL)).replaceAll('\n', `\n${' '.repeat(before)}`);
  return rows.map((row, line) => {
    const text = row
      .map((cell, index) =>
        index === row.length - 1 ? lastCell(cell) : cell.padEnd((widths[index] ?? 0) + 2),
      )
      .join('');
    return line === 0 ? palette.strong(text) : text;
  });
}
