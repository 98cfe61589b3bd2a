import type { CliIo } from './io.ts';

export type ColourMode = 'always' | 'never' | 'auto';

type Paint = (text: string) => string;

/** Colours parts of a text; with colours off, each function returns its text unchanged. */
export interface Palette {
  readonly added: Paint;
  readonly removed: Paint;
  readonly hunk: Paint;
  readonly reason: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly warn: Paint;
  readonly strong: Paint;
}

const sgr =
  (on: string, off: string): Paint =>
  (text) =>
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

const same: Paint = (text) => text;
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

/** `auto`: colours on a terminal, unless the user has disabled them (https://no-color.org). */
export function paletteFor(mode: ColourMode, io: Pick<CliIo, 'env' | 'isTerminal'>): Palette {
  const wanted =
    mode === 'auto' ? io.isTerminal && !io.env['NO_COLOR'] && io.env['TERM'] !== 'dumb' : mode === 'always';
  return wanted ? COLOURED : PLAIN;
}
