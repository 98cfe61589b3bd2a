import { plain, type Part } from './unread-lists.ts';

/** Documents up to this many bytes are not checked: parsing them takes at most 128 KiB and a quarter of a millisecond. */
const UNBOUNDED_BYTES = 4 * 1024;
/** Above this many bytes every byte is checked; below, only where a sample shows much structure. */
export const SAMPLED_BYTES = 1024 * 1024;
/** The sample: {@link WINDOW} bytes in every {@link STRIDE} bytes. */
const WINDOW = 16;
const STRIDE = 1024;
/** Density above which every byte is checked. A Pod with managedFields has 1 in 9. */
const SAMPLE_DENSITY = 1 / 7;
/** Documents up to this many bytes give a small sample, which has to show a higher density. */
const SMALL_BYTES = 16 * 1024;

/** Levels of nesting. Objects of Kubernetes have some ten, a schema in a CRD some dozens. */
export const MAX_DEPTH = 256;
export const TOO_DEEP = `it is nested more than ${MAX_DEPTH} levels deep`;
/** Lists, objects and keys per byte. The densest large object repeats the shortest entry, `{"name":"A"},`: 2 in 13. */
const MAX_DENSITY = 1 / 6;
/**
 * Bytes of heap that one review may take when it is parsed, by the sizes below. Two objects of 1.5 MiB, the most that etcd
 * stores, take 14 MiB if they consist of environment variables with names and values of some length.
 */
const MAX_HEAP_BYTES = 32 * 1024 * 1024;
/** The most bytes of heap that V8 needs for an object or list, a key and an item. A string takes its length. */
const OBJECT_OR_LIST = 56;
const KEY = 100;
const ITEM = 16;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

/**
 * Tells why a JSON document must not be parsed. `[[[…]]]` takes thirty times its length in heap, and fifty times as long to
 * parse as an object of Kubernetes of the same length, on the one thread that answers all requests. Invalid JSON is checked
 * as well, since the parser fails only when it reaches the error.
 *
 * The document comes in pieces, as they are received: a refused document need not be received to its end, and other requests
 * do not wait for a check of the whole.
 */
export class JsonBounds {
  #length = 0;
  #depth = 0;
  #opened = 0;
  #keys = 0;
  #items = 0;
  #inString = false;
  /** Whether the last piece ended with a backslash that escapes the next character. */
  #escaped = false;

  /** @returns why the document is nested too deep, as soon as it is */
  push(piece: Uint8Array): string | undefined {
    const view = plain(piece);
    const { length } = view;
    let [depth, opened, keys, items] = [this.#depth, 0, 0, 0];
    let inString = this.#inString;
    let index = this.#escaped ? 1 : 0;
    while (index < length) {
      if (inString) {
        // To the closing quote, or to the end of the piece.
        for (; index < length; index += 1) {
          const inside = view[index];
          if (inside === QUOTE) break;
          if (inside === BACKSLASH) index += 1;
        }
        if (index >= length) break;
        inString = false;
        index += 1;
        continue;
      }
      const byte = view[index];
      if (byte === QUOTE) inString = true;
      else if (byte === COMMA) items += 1;
      else if (byte === COLON) keys += 1;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        opened += 1;
        depth += 1;
        if (depth > MAX_DEPTH) return TOO_DEEP;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
      index += 1;
    }
    this.#depth = depth;
    this.#opened += opened;
    this.#keys += keys;
    this.#items += items;
    this.#length += length;
    this.#inString = inString;
    this.#escaped = index > length;
    return undefined;
  }

  /** Returns why the document must not be parsed; undefined where it may be. */
  verdict(): string | undefined {
    const things = this.#opened + this.#keys;
    if (things > this.#length * MAX_DENSITY) {
      return `it has ${things} lists, objects and keys in ${this.#length} bytes, at most one in ${1 / MAX_DENSITY} is allowed`;
    }
    const heap = this.#length + this.#opened * OBJECT_OR_LIST + this.#keys * KEY + this.#items * ITEM;
    if (heap <= MAX_HEAP_BYTES) return undefined;
    return `it would take about ${Math.ceil(heap / 1_048_576)} MiB of memory, at most ${MAX_HEAP_BYTES / 1_048_576} MiB are allowed`;
  }
}

/** Checks a whole document. @returns why it must not be parsed; undefined where it may be */
export function tooMuchJson(bytes: Buffer): string | undefined {
  if (bytes.length <= UNBOUNDED_BYTES) return undefined;
  const enough = bytes.length <= SMALL_BYTES ? MAX_DENSITY : SAMPLE_DENSITY;
  if (bytes.length <= SAMPLED_BYTES && sampledDensity(bytes) <= enough) return undefined;
  const bounds = new JsonBounds();
  return bounds.push(bytes) ?? bounds.verdict();
}

/** Checks a large document in steps. @returns why it must not be parsed; undefined where it may be */
export function* tooMuchInSteps(bytes: Buffer): Generator<void, string | undefined> {
  if (sampledDensity(bytes) <= SAMPLE_DENSITY) return undefined;
  const bounds = new JsonBounds();
  for (let start = 0; start < bytes.length; start += STEP_BYTES) {
    const tooDeep = bounds.push(bytes.subarray(start, start + STEP_BYTES));
    if (tooDeep !== undefined) return tooDeep;
    yield;
  }
  return bounds.verdict();
}
const STEP_BYTES = 128 * 1024;

/**
 * The share of bytes that open a list or object, or end a key, in windows at random places that no sender can predict.
 * @param parts parts of the document; the result is NaN where all of them are short
 */
export function sampledDensity(
  bytes: Buffer,
  parts: readonly Part[] = [{ start: 0, end: bytes.length }],
): number {
  const view = plain(bytes);
  let found = 0;
  let seen = 0;
  for (const { start: first, end } of parts) {
    for (let stride = first; stride + STRIDE <= end; stride += STRIDE) {
      const start = stride + Math.floor(Math.random() * (STRIDE - WINDOW));
      for (let index = start; index < start + WINDOW; index += 1) {
        const byte = view[index];
        if (byte === COLON || byte === OPEN_LIST || byte === OPEN_OBJECT) found += 1;
      }
      seen += WINDOW;
    }
  }
  return found / seen;
}
