const NOBODY = Number.NEGATIVE_INFINITY;

/** Scores in a row, of which the highest is known at any time; of several the first. */
export class Ranking {
  /** Of so many a tournament is held: a power of two. */
  readonly #size: number;
  readonly #scores: Float64Array;
  /** Who wins below: `1` is the final, and under `at` are `2 * at` and `2 * at + 1`. */
  readonly #winners: Int32Array;

  /** @param scores undefined for who is out */
  constructor(scores: readonly (number | undefined)[]) {
    this.#size = 2 ** Math.ceil(Math.log2(Math.max(scores.length, 1)));
    this.#scores = new Float64Array(this.#size).fill(NOBODY);
    this.#winners = new Int32Array(2 * this.#size);
    for (const [index, score] of scores.entries()) this.#scores[index] = score ?? NOBODY;
    for (let index = 0; index < this.#size; index += 1) this.#winners[this.#size + index] = index;
    for (let at = this.#size - 1; at > 0; at -= 1) this.#play(at);
  }

  scoreOf(index: number): number | undefined {
    const score = this.#scores[index] ?? NOBODY;
    return score === NOBODY ? undefined : score;
  }

  set(index: number, score: number | undefined): void {
    const next = score ?? NOBODY;
    if (this.#scores[index] === next) return;
    this.#scores[index] = next;
    for (let at = (this.#size + index) >> 1; at > 0; at >>= 1) this.#play(at);
  }

  /** undefined where all are out. */
  best(): { readonly index: number; readonly score: number } | undefined {
    const index = this.#winners[1] ?? 0;
    const score = this.scoreOf(index);
    return score === undefined ? undefined : { index, score };
  }

  #play(at: number): void {
    const left = this.#winners[2 * at] ?? 0;
    const right = this.#winners[2 * at + 1] ?? 0;
    this.#winners[at] = (this.#scores[right] ?? NOBODY) > (this.#scores[left] ?? NOBODY) ? right : left;
  }
}
