import type { CliIo } from '../src/cli/output/io.ts';

/** Colours where a person is watching and has not asked for none. */
const SGR = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

/** Says what happens, in the order in which it does, and remembers what went otherwise than it should. */
export class Narrator {
  /** What was not as announced; empty after a good demo. */
  readonly surprises: string[] = [];
  #scene = 0;
  readonly #io: CliIo;
  readonly #colour: boolean;

  constructor(io: CliIo) {
    this.#io = io;
    this.#colour = io.isTerminal && !io.env['NO_COLOR'];
  }

  scene(title: string): void {
    this.#scene += 1;
    this.#io.stdout(`\n${this.#paint('bold', `${this.#scene}. ${title}`)}\n`);
  }

  say(text: string): void {
    this.#io.stdout(`   ${text}\n`);
  }

  /** A command as a user would type it. */
  command(text: string): void {
    this.#io.stdout(`   ${this.#paint('cyan', `$ ${text}`)}\n`);
  }

  /** What a command printed, or a part of an object; lines with `+` are Muster's doing. */
  output(text: string): void {
    for (const line of text.trimEnd().split('\n')) {
      const colour = line.startsWith('+')
        ? 'green'
        : line.startsWith('Error') || line.startsWith('The ')
          ? 'red'
          : line.startsWith('Warning')
            ? 'yellow'
            : undefined;
      for (const piece of wrap(line))
        this.#io.stdout(`     ${colour ? this.#paint(colour, piece) : piece}\n`.replace(/ +\n/, '\n'));
    }
  }

  /** Holds what is claimed against what was seen. */
  check(claim: string, holds: boolean): void {
    if (!holds) this.surprises.push(claim);
    const mark = holds ? this.#paint('green', '✔') : this.#paint('red', '✘');
    this.#io.stdout(`   ${mark} ${claim}\n`);
  }

  #paint(style: keyof typeof SGR, text: string): string {
    return this.#colour ? `\u001b[${SGR[style]}m${text}\u001b[0m` : text;
  }
}

/** Breaks a long line between words, so that a message stays readable in a terminal of 100 columns. */
function wrap(line: string, width = 92): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const at = rest.lastIndexOf(' ', width);
    const cut = at > 20 ? at : width;
    pieces.push(rest.slice(0, cut));
    rest = `  ${rest.slice(cut).trimStart()}`;
  }
  return [...pieces, rest];
}
