import { plain, type Part } from './unread-lists.ts';

/** Up to this many bytes nothing is looked at: whatever stands there takes at most 128 KiB and a quarter of a millisecond. */
const UNBOUNDED_BYTES = 4 * 1024;
/** Above this many each byte is looked at; between, only where a sample shows much structure. */
export const SAMPLED_BYTES = 1024 * 1024;
/** The sample: a window of so many bytes in each so many. */
const WINDOW = 16;
const STRIDE = 1024;
/** A Pod with managedFields has 1 in 9. */
const SAMPLE_DENSITY = 1 / 7;
/** Up to this many bytes a sample is of few windows: it has to show more before all is looked at. */
const SMALL_BYTES = 16 * 1024;

/** Nesting: objects of Kubernetes have some ten levels, a schema within one some dozens. */
export const MAX_DEPTH = 256;
export const TOO_DEEP = `it is nested more than ${MAX_DEPTH} levels deep`;
/**
 * Lists, objects and keys, for each byte. The densest that a large object can be is one of the shortest entries,
 * `{"name":"A"},`, over and over: 2 in 13.
 */
const MAX_DENSITY = 1 / 6;
/**
 * Bytes of heap that one review may come to when it is parsed, by the prices below. Two objects of 1.5 MiB, the most that
 * etcd stores, come to 14 MiB where they consist of environment variables with names and values of some length.
 */
const MAX_HEAP_BYTES = 32 * 1024 * 1024;
/** What V8 needs for each thing that a character of JSON stands for, at its dearest, in bytes. Strings cost their length. */
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
 * Tells why a JSON document must not be parsed, if it must not. `[[[…]]]` takes thirty times its own length of heap, and is
 * parsed for fifty times as long as an object of Kubernetes of that length, on the one thread that answers everybody. A
 * document that is no JSON is judged as well, since the parser fails only at its fault.
 *
 * Takes the document in pieces, as they come: what is refused need not be received to its end, and nobody waits for a look
 * at all of it.
 */
export class JsonBounds {
  #length = 0;
  #depth = 0;
  #opened = 0;
  #keys = 0;
  #items = 0;
  #inString = false;
  /** Whether the piece ended behind a backslash. */
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

  /** Why the document, as it stands, must not be parsed. */
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

/** The same for a document that is there as a whole. */
export function tooMuchJson(bytes: Buffer): string | undefined {
  if (bytes.length <= UNBOUNDED_BYTES) return undefined;
  const enough = bytes.length <= SMALL_BYTES ? MAX_DENSITY : SAMPLE_DENSITY;
  if (bytes.length <= SAMPLED_BYTES && sampledDensity(bytes) <= enough) return undefined;
  const bounds = new JsonBounds();
  return bounds.push(bytes) ?? bounds.verdict();
}

/** The same in steps, for one that is large. */
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
 * Of the bytes in windows at places that no sender can foresee, the share that opens a list or object, or ends a key.
 * @param parts of the document; it is NaN where all of them are short
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
