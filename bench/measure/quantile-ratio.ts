import { quantile, type Estimate } from './interval.ts';

/** Times that the blocks are drawn anew. */
const DRAWS = 2_000;

/**
 * How many times a quantile of `lower` is the same quantile of `upper`. Each is given in blocks, of which one is as good as
 * another: a second of somebody's calls. The quantile is that of all calls together, for the worst of a single second is
 * mere chance; the interval is what 95 in 100 draws of as many blocks come to.
 */
export function quantileRatio(
  upper: readonly (readonly number[])[],
  lower: readonly (readonly number[])[],
  share: number,
): Estimate {
  const value = quantile(upper.flat(), share) / quantile(lower.flat(), share);
  if (upper.length < 2 || lower.length < 2) return { value, low: 0, high: Infinity };
  const random = seeded();
  const [above, below] = [new Drawn(upper, share, random), new Drawn(lower, share, random)];
  const ratios = Array.from({ length: DRAWS }, () => above.draw() / below.draw());
  return { value, low: quantile(ratios, 0.025), high: quantile(ratios, 0.975) };
}

/** Quantiles of blocks that are drawn with replacement. Sorts once. */
class Drawn {
  readonly #blocks: readonly (readonly number[])[];
  readonly #share: number;
  readonly #random: () => number;
  /** Longest first, with the block that it is of. */
  readonly #longest: readonly { readonly value: number; readonly block: number }[];

  constructor(blocks: readonly (readonly number[])[], share: number, random: () => number) {
    this.#blocks = blocks;
    this.#share = share;
    this.#random = random;
    this.#longest = blocks
      .flatMap((values, block) => values.map((value) => ({ value, block })))
      .sort((a, b) => b.value - a.value);
  }

  draw(): number {
    const times = new Uint16Array(this.#blocks.length);
    let all = 0;
    for (let count = 0; count < times.length; count += 1) {
      const block = Math.floor(this.#random() * times.length);
      times[block] = (times[block] ?? 0) + 1;
      all += this.#blocks[block]?.length ?? 0;
    }
    // As many are above the quantile.
    let left = all - Math.ceil(all * this.#share);
    for (const { value, block } of this.#longest) {
      left -= times[block] ?? 0;
      if (left < 0) return value;
    }
    return Number.NaN;
  }
}

/** Mulberry32: the same waits are always judged in the same way. */
function seeded(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
