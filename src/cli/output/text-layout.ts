import { printable } from '../../text/printable.ts';
import type { CliIo } from './io.ts';
import type { Palette } from './palette.ts';

/** Width without a terminal, and in docs/reference/cli.md. */
const PAGE = 100;
/** Smallest width that is laid out. */
const NARROWEST = 40;

/**
 * Width of lines: that of the terminal, else `$COLUMNS`.
 * @param otherwise width where neither is known. Infinity: output for programs is never wrapped, whatever `$COLUMNS` is
 */
export function widthFor({ terminal, env }: Pick<CliIo, 'terminal' | 'env'>, otherwise = PAGE): number {
  const set = otherwise === Infinity ? Number.NaN : Number.parseInt(env['COLUMNS'] ?? '', 10);
  const width = terminal?.size().columns ?? (set > 0 ? set : otherwise);
  return Math.max(NARROWEST, Math.min(width, otherwise));
}

const SGR = /\u001b\[[\d;]*m/g;
const lengthOf = (text: string): number => text.replace(SGR, '').length;

/**
 * Breaks every line that is too long between words, with further lines indented by two spaces. A longer word stays whole, so
 * that a path can be copied. The command of an example (`  $ muster …`) is broken with backslashes, as a shell reads it, and
 * its remark gets a line of its own.
 */
export const reflowed = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => {
      if (lengthOf(line) <= width) return line;
      const [, command, remark = ''] = /^( *\$ .*?)(?: {2,}(\S.*))?$/.exec(line) ?? [];
      return command === undefined ? brokenUp(line, width) : exampleOf(command, remark, width);
    })
    .join('\n');

function exampleOf(command: string, remark: string, width: number): string {
  const further = ' '.repeat(command.indexOf('$') + 4);
  // A quoted text is one word.
  const words = command.replaceAll(/'[^']*'|"[^"]*"/g, (quoted) => quoted.replaceAll(' ', '\u00a0'));
  const broken = brokenUp(words, width - ' \\'.length, '    ').replaceAll('\u00a0', ' ');
  const lines = broken.split('\n').join(' \\\n');
  return remark === '' ? lines : `${lines}\n${brokenUp(`${further}${remark}`, width, '')}`;
}

/** As {@link reflowed}, for help: adjacent lines without indent form a paragraph, which is filled anew for any width. */
export const filled = (text: string, width: number): string =>
  text
    .split('\n\n')
    .map((block) =>
      /^ /m.test(block) ? reflowed(block, width) : brokenUp(block.replaceAll(/\n(?=.)/g, ' '), width, ''),
    )
    .join('\n\n');

function brokenUp(line: string, width: number, further = '  '): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = indent;
  let begun = false;
  for (const word of line.slice(indent.length).split(' ')) {
    if (begun && lengthOf(current) + 1 + lengthOf(word) > width) {
      lines.push(current);
      current = `${indent}${further}${word}`;
    } else {
      current += begun ? ` ${word}` : word;
      begun = true;
    }
  }
  return [...lines, current].join('\n');
}

/** Smallest width of the last column. */
const NARROWEST_CELL = 24;
/** Longest cell (characters): a scheduler's message with all that it quotes. */
const MAX_CELL = 4096;

/**
 * A table of rows, of which the first has the heads. Cells may have any characters: {@link printable} makes them safe.
 * @param width a longer row goes on in further lines below its last cell
 */
export function columns(
  rows: readonly (readonly string[])[],
  palette: Palette,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const safe = rows.map((row) => row.map((cell) => printable(cell, MAX_CELL)));
  const widths = (safe[0] ?? []).map((_, index) => Math.max(...safe.map((row) => row[index]?.length ?? 0)));
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + 2, 0);
  const lastCell = (cell: string): string =>
    reflowed(cell, Math.max(width - before, NARROWEST_CELL)).replaceAll('\n', `\n${' '.repeat(before)}`);
  return safe.map((row, line) => {
    const text = row
      .map((cell, index) =>
        index === row.length - 1 ? lastCell(cell) : cell.padEnd((widths[index] ?? 0) + 2),
      )
      .join('');
    return line === 0 ? palette.strong(text) : text;
  });
}
