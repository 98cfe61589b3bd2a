import type { CliIo, Terminal } from '../output/io.ts';
import type { Palette } from '../output/palette.ts';
import type { Show } from './changes.ts';
import { painted, widthOf, type Line } from './table.ts';
import { screenLines } from './view.ts';
import type { Clock } from '../../kube/client/clock.ts';

const CSI = '\u001b[';
/** A screen of its own, no cursor, and what is too wide is clipped instead of pushing everything down. */
const ENTER = `${CSI}?1049h${CSI}?25l${CSI}?7l`;
const LEAVE = `${CSI}?7h${CSI}?25h${CSI}?1049l`;
const HOME = `${CSI}H`;
const CLEAR_LINE = `${CSI}K`;
const CLEAR_BELOW = `${CSI}J`;

/**
 * Draws each moment over the one before: in one write, so that nothing flickers, and only where something is different.
 * The terminal is given back by `close`, also where nothing was drawn.
 */
export function liveScreen(io: Pick<CliIo, 'stdout'>, terminal: Terminal, palette: Palette): Show {
  let drawn: string | undefined;
  let ended: (() => void) | undefined;
  const close = (): void => {
    ended?.();
    if (drawn !== undefined) io.stdout(LEAVE);
    drawn = undefined;
  };
  return {
    show: (moment) => {
      const size = terminal.size();
      const frame = frameOf(screenLines(moment, size), size, palette);
      if (frame === drawn) return;
      // Also after a defect that nobody has caught: without a cursor nobody can go on.
      ended ??= terminal.onExit(close);
      io.stdout(`${drawn === undefined ? ENTER : ''}${frame}`);
      drawn = frame;
    },
    close,
  };
}

/** No line feed after the last line: on a full screen it would scroll. */
function frameOf(
  lines: readonly Line[],
  { columns, rows }: { readonly columns: number; readonly rows: number },
  palette: Palette,
): string {
  const rowsShown = lines.map((line) => {
    const width = line.reduce((sum, { text }) => sum + widthOf(text), 0);
    // After the last column the cursor stands on it, and clearing would take that character away.
    return `${painted(line, palette)}${width < columns ? CLEAR_LINE : ''}`;
  });
  const below = lines.length < rows ? `\r\n${CLEAR_BELOW}` : '';
  return `${HOME}${rowsShown.join('\r\n')}${below}`;
}

/** Wakes one sleeper. A ring is kept until somebody waits, so that none is lost in between. */
export class Bell {
  readonly #clock: Clock;
  #rung = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Until it rings, or has rung since the last wait; at most `ms`. */
  async wait(ms: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(ms, resolve);
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#rung = false;
  }
}
