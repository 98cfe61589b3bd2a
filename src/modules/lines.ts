/** Cuts a stream of text into lines, and keeps no more of one than `most` characters. */
export class Lines {
  readonly #most: number;
  readonly #line: (text: string) => void;
  readonly #tooLong: () => void;
  #parts: string[] = [];
  #length = 0;

  constructor(most: number, line: (text: string) => void, tooLong: () => void) {
    this.#most = most;
    this.#line = line;
    this.#tooLong = tooLong;
  }

  push(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#add(text.slice(from, end));
      const line = this.#parts.join('');
      const whole = this.#length <= this.#most;
      this.#parts = [];
      this.#length = 0;
      from = end + 1;
      if (whole) this.#line(line);
    }
    if (from < text.length) this.#add(text.slice(from));
  }

  #add(part: string): void {
    const before = this.#length;
    this.#length += part.length;
    if (this.#length <= this.#most) this.#parts.push(part);
    else if (before <= this.#most) {
      this.#parts = [];
      this.#tooLong();
    }
  }
}
