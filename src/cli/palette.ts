import type { CliIo } from './io.ts';

export type ColourMode = 'always' | 'never' | 'auto';

/** Marks parts of a text for a person; with colours off, each gives back what it was given. */
export interface Palette {
  added(text: string): string;
  removed(text: string): string;
  hunk(text: string): string;
  reason(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  strong(text: string): string;
}

const sgr =
  (on: string, off: string) =>
  (text: string): string =>
    `\u001b[${on}m${text}\u001b[${off}m`;

const COLOURED: Palette = {
  added: sgr('32', '39'),
  removed: sgr('31', '39'),
  hunk: sgr('36', '39'),
  reason: sgr('2', '22'),
  good: sgr('32', '39'),
  bad: sgr('1;31', '22;39'),
  warn: sgr('33', '39'),
  strong: sgr('1', '22'),
};

const same = (text: string): string => text;
const PLAIN: Palette = {
  added: same,
  removed: same,
  hunk: same,
  reason: same,
  good: same,
  bad: same,
  warn: same,
  strong: same,
};

/** `auto`: colours for a person at a terminal who has not asked for none (https://no-color.org). */
export function paletteFor(mode: ColourMode, io: Pick<CliIo, 'env' | 'isTerminal'>): Palette {
  const wanted =
    mode === 'auto' ? io.isTerminal && !io.env['NO_COLOR'] && io.env['TERM'] !== 'dumb' : mode === 'always';
  return wanted ? COLOURED : PLAIN;
}
