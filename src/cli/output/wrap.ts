import type { CliIo } from './io.ts';

/** Where nobody watches, and in docs/reference/cli.md. */
const PAGE = 100;
/** Narrower than that nothing can be laid out. */
const NARROWEST = 40;

/**
 * How wide lines may be: as wide as the terminal, or where there is none as `$COLUMNS` says of a page.
 * @param otherwise where neither says it. Infinity: what is read by programs is not wrapped, whatever `$COLUMNS` is
 */
export function widthFor({ terminal, env }: Pick<CliIo, 'terminal' | 'env'>, otherwise = PAGE): number {
  const told = otherwise === Infinity ? Number.NaN : Number.parseInt(env['COLUMNS'] ?? '', 10);
  const columns = terminal?.size().columns ?? (told > 0 ? told : otherwise);
  return Math.max(NARROWEST, Math.min(columns, otherwise));
}

const SGR = /\u001b\[[\d;]*m/g;
const lengthOf = (text: string): number => text.replace(SGR, '').length;

/**
 * `text` with every line that is too long broken between words, what follows two spaces further in. A word that is too
 * long by itself stays whole: a path that is broken cannot be copied. The command of an example (`  $ muster …`) is broken
 * as a shell reads it, and a remark beside it stands below.
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
  // What is in quotes is one word.
  const words = command.replaceAll(/'[^']*'|"[^"]*"/g, (quoted) => quoted.replaceAll(' ', '\u00a0'));
  const broken = brokenUp(words, width - ' \\'.length, '    ').replaceAll('\u00a0', ' ');
  const lines = broken.split('\n').join(' \\\n');
  return remark === '' ? lines : `${lines}\n${brokenUp(`${further}${remark}`, width, '')}`;
}

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
