import type { CliIo, Terminal } from '../output/io.ts';
import type { Palette } from '../output/palette.ts';
import type { Changed, Moment, Show } from '../../status/moment.ts';
import { painted, widthOf, type Line } from './table.ts';
import { screenLines } from './view.ts';

const CSI = '\u001b[';
/** Switches to the alternate screen, hides the cursor, and clips long lines instead of wrapping them. */
const ENTER = `${CSI}?1049h${CSI}?25l${CSI}?7l`;
const LEAVE = `${CSI}?7h${CSI}?25h${CSI}?1049l`;
const HOME = `${CSI}H`;
const CLEAR_LINE = `${CSI}K`;
const CLEAR_BELOW = `${CSI}J`;

/** What is shown beneath the status, anew with each moment. */
export type Beneath = (moment: Moment, changed: readonly Changed[], width: number) => readonly Line[];

/**
 * Draws each moment over the one before, by one write without flicker, and only where it differs. `close` restores the
 * terminal, also where nothing was drawn.
 */
export function liveScreen(
  io: Pick<CliIo, 'stdout'>,
  terminal: Terminal,
  palette: Palette,
  beneath: Beneath = () => [],
): Show {
  let drawn: string | undefined;
  let ended: (() => void) | undefined;
  const close = (): void => {
    ended?.();
    if (drawn !== undefined) io.stdout(LEAVE);
    drawn = undefined;
  };
  return {
    show: (moment, changed) => {
      const size = terminal.size();
      const lines = screenLines(moment, size, beneath(moment, changed, size.columns));
      const frame = frameOf(lines, size, palette);
      if (frame === drawn) return;
      // An uncaught error also has to restore the cursor.
      ended ??= terminal.onExit(close);
      io.stdout(`${drawn === undefined ? ENTER : ''}${frame}`);
      drawn = frame;
    },
    close,
  };
}

/** The last line has no line feed: on a full screen it would scroll. */
function frameOf(
  lines: readonly Line[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
  palette: Palette,
): string {
  const rowsShown = lines.map((line) => {
    const width = line.reduce((sum, { text }) => sum + widthOf(text), 0);
    // After the last column the cursor is still on that column, so clearing to the end would delete its character.
    return `${painted(line, palette)}${width < columns ? CLEAR_LINE : ''}`;
  });
  const below = lines.length < rows ? `\r\n${CLEAR_BELOW}` : '';
  return `${HOME}${rowsShown.join('\r\n')}${below}`;
}
