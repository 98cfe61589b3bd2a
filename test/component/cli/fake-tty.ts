import { EventEmitter } from 'node:events';
import { terminalOf, type CliIo } from '../../../src/cli/output/io.ts';

/**
 * A terminal that understands what `muster status -w` says to it, and fails on everything else: `rows` is what a person
 * sees. Colours are dropped.
 */
export class FakeTty extends EventEmitter {
  readonly isTTY = true;
  columns: number;
  rows: number;
  cursor = true;
  /** Whether long lines go on in the next row. */
  wraps = true;
  /** On the screen that is there for programs that draw. */
  drawing = false;
  readonly writes: string[] = [];
  #screen: string[][] = [];
  #at = { row: 0, column: 0 };

  constructor(columns = 100, rows = 24) {
    super();
    this.columns = columns;
    this.rows = rows;
  }

  /** Every row down to the last that has something on it. */
  get shown(): string[] {
    const lines = Array.from(this.#screen, (row) =>
      Array.from(row ?? [], (c) => c ?? ' ')
        .join('')
        .trimEnd(),
    );
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
  }

  /** What does not fit any more is lost, as it is on a real one. */
  resize(columns: number, rows: number): void {
    this.#screen = this.#screen.slice(0, rows).map((row) => row.slice(0, columns));
    Object.assign(this, { columns, rows });
    this.emit('resize');
  }

  write(text: string): void {
    this.writes.push(text);
    for (const [piece] of text.matchAll(/\u001b\[[?\d;]*[A-Za-z]|[^]/gu)) this.#take(piece);
  }

  #take(piece: string): void {
    const { row, column } = this.#at;
    const line = (this.#screen[row] ??= []);
    const modes: Record<string, () => void> = {
      '?25l': () => (this.cursor = false),
      '?25h': () => (this.cursor = true),
      '?7l': () => (this.wraps = false),
      '?7h': () => (this.wraps = true),
      '?1049h': () => this.#switch(true),
      '?1049l': () => this.#switch(false),
      H: () => (this.#at = { row: 0, column: 0 }),
      K: () => line.splice(column),
      J: () => {
        line.splice(column);
        this.#screen.splice(row + 1);
      },
    };
    if (piece.startsWith('\u001b[')) {
      const code = piece.slice(2);
      if (code.endsWith('m')) return;
      const mode = modes[code];
      if (mode === undefined) throw new Error(`the terminal does not know ${JSON.stringify(piece)}`);
      mode();
    } else if (piece === '\r') {
      this.#at.column = 0;
    } else if (piece === '\n') {
      if (row + 1 >= this.rows) throw new Error('the terminal scrolls');
      this.#at.row += 1;
    } else {
      if (column >= this.columns) throw new Error(`row ${row} is wider than the terminal`);
      line[column] = piece;
      // The cursor stays on the last column, whether the next character wraps or overwrites.
      this.#at.column = column + 1;
    }
  }

  #switch(drawing: boolean): void {
    this.drawing = drawing;
    this.#screen = [];
    this.#at = { row: 0, column: 0 };
  }
}

export interface FakeProcess {
  readonly io: CliIo;
  readonly written: { out: string; err: string };
  /** What Ctrl-C does. */
  interrupt(): void;
}

/** A process whose standard output is `tty`, or a pipe where there is none. */
export function processAt(tty?: FakeTty, env: Record<string, string> = {}): FakeProcess {
  const written = { out: '', err: '' };
  const listeners = new Set<(why: string) => void>();
  return {
    written,
    interrupt: () => listeners.forEach((listener) => listener('SIGINT')),
    io: {
      stdout: (text) => {
        written.out += text;
        tty?.write(text);
      },
      stderr: (text) => void (written.err += text),
      now: () => new Date(),
      env,
      isTerminal: tty !== undefined,
      terminal: tty && terminalOf(tty),
      onEnough: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      readStdin: () => Promise.resolve(Buffer.of()),
    },
  };
}
