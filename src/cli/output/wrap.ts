import type { CliIo } from './io.ts';

/** Where nobody watches, and in docs/cli.md. */
const PAGE = 100;
/** Narrower than that nothing can be laid out. */
const NARROWEST = 40;

/**
 * How wide lines may be: as wide as the terminal.
 * @param otherwise where there is none: what is read by programs is not wrapped
 */
export const widthFor = ({ terminal }: Pick<CliIo, 'terminal'>, otherwise = PAGE): number =>
  terminal === undefined ? otherwise : Math.max(NARROWEST, Math.min(terminal.size().columns, otherwise));

const SGR = /\u001b\[[\d;]*m/g;
const lengthOf = (text: string): number => text.replace(SGR, '').length;

/**
 * `text` with every line that is too long broken between words, what follows two spaces further in. A word that is too
 * long by itself stays whole: a path that is broken cannot be copied. So does the line of an example (`  $ muster …`).
 */
export const reflowed = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => (lengthOf(line) <= width || /^ *\$ /.test(line) ? line : brokenUp(line, width)))
    .join('\n');

/**
 * As `reflowed`, for help: lines that stand under each other without any indent are a paragraph, and are filled anew, so
 * that a text reads as well at 60 columns as at 100.
 */
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
