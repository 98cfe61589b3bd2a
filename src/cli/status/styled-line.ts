import type { Palette } from '../output/palette.ts';

/** A piece of a line; colours come last, so that lines are measured and cut as they are read. */
export interface Span {
  readonly text: string;
  readonly tone?: 'strong' | 'good' | 'warn' | 'bad' | 'reason' | undefined;
}

export type Line = readonly Span[];

export const span = (text: string, tone?: Span['tone']): Span => ({ text, tone });

const ELLIPSIS = '…';

/** Characters as Unicode counts them; names are ASCII, and a terminal clips whatever turns out wider. */
export const widthOf = (text: string): number => Array.from(text).length;

/** At most `width` characters, the last of them `…` where something is missing. */
export function cut(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width
    ? text
    : `${characters.slice(0, Math.max(0, width - 1)).join('')}${width > 0 ? ELLIPSIS : ''}`;
}

/** The same for a name, whose end tells more than its middle: `llama-pre…-7`. */
export function cutName(name: string, width: number): string {
  const characters = Array.from(name);
  if (characters.length <= width || width < 6) return cut(name, width);
  const tail = Math.floor((width - 1) / 3);
  return `${characters.slice(0, width - 1 - tail).join('')}${ELLIPSIS}${characters.slice(-tail).join('')}`;
}

export function cutLine(line: Line, width: number): Line {
  let left = width;
  if (line.reduce((sum, { text }) => sum + widthOf(text), 0) <= left) return line;
  const kept: Span[] = [];
  for (const { text, tone } of line) {
    // One place is for the ellipsis, should this piece end just at the edge and another follow.
    if (widthOf(text) >= left) return [...kept, span(cut(`${text}${ELLIPSIS}`, left), tone)];
    kept.push({ text, tone });
    left -= widthOf(text);
  }
  return kept;
}

/** Words over as many lines as they take, each of at most `width` characters after `indent`. */
export function wrapped(text: string, width: number, indent = '', tone?: Span['tone']): Line[] {
  const room = Math.max(1, width - widthOf(indent));
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').filter((one) => one !== '')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, ...(line === '' ? [] : [line])].map((one) => [span(indent), span(cut(one, room), tone)]);
}

/** As it is printed: without blanks at the end, in colours where the palette has them. */
export function painted(line: Line, palette: Palette): string {
  const last = line.findLastIndex(({ text }) => text.trimEnd() !== '');
  return line
    .slice(0, last + 1)
    .map(({ text, tone }, index) => {
      const shown = index === last ? text.trimEnd() : text;
      return tone === undefined ? shown : palette[tone](shown);
    })
    .join('');
}
