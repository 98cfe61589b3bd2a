import { randomBytes } from 'node:crypto';
import { plain, type Part } from './unread-lists.ts';

/** Bytes that are parsed at a time: half a millisecond at most. */
const PIECE_BYTES = 32 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;

/** Random, so that no sender can use it. */
export const UNGUESSABLE = `open-${randomBytes(16).toString('hex')}`;
/** The key under which a piece holds the content of an object that an earlier piece opened. */
const OPEN = UNGUESSABLE;

type Container = Record<string, unknown> | unknown[];

/** The document is nested too deep. */
export class TooDeep extends Error {}

/**
 * `JSON.parse` of a large document, piece by piece, so that other requests are handled in between: a megabyte of small
 * objects takes ten milliseconds of the one thread.
 *
 * The document is cut at commas between values. Each piece is made a document of its own: the lists and objects that are
 * open at its start are opened again, and those that are open at its end are closed. Its content is then added to the lists
 * and objects that earlier pieces opened. V8 parses every byte and each comma has a value at either side, so a document that
 * is no JSON fails in some piece.
 *
 * @param parts the parts to parse: the whole document, or the document without the content of some lists
 * @throws SyntaxError where it is no JSON; {@link TooDeep}
 */
export function* parseInPieces(
  bytes: Buffer,
  parts: readonly Part[],
  { encoding, maxDepth }: { readonly encoding: 'utf8' | 'latin1'; readonly maxDepth: number },
): Generator<void, unknown> {
  const view = plain(bytes);
  const pieces = new Pieces(bytes, encoding);
  const { lists, keys } = pieces;
  let depth = 0;
  let lowest = 0;
  let inString = false;
  let key = 0;
  for (const { start, end } of parts) {
    let from = start;
    let due = from + PIECE_BYTES - pieces.taken;
    for (let index = start; index < end; index += 1) {
      if (inString) {
        for (; index < end; index += 1) {
          const inside = view[index];
          if (inside === QUOTE) break;
          if (inside === BACKSLASH) index += 1;
        }
        inString = index >= end;
        continue;
      }
      const byte = view[index];
      if (byte === QUOTE) {
        inString = true;
        key = index;
      } else if (byte === COLON) keys[depth] = key;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        lists[depth] = byte === OPEN_LIST;
        depth += 1;
        if (depth > maxDepth) throw new TooDeep();
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        depth -= 1;
        if (depth < lowest) lowest = depth;
      } else if (byte === COMMA && index >= due && depth > 0 && hasValueBefore(view, index)) {
        pieces.take(from, index);
        pieces.end(depth, lowest);
        from = index + 1;
        due = from + PIECE_BYTES;
        lowest = depth;
        yield;
      }
    }
    pieces.take(from, end);
  }
  return pieces.whole();
}

/**
 * Whether a value comes before the comma. After an opening bracket it does not, and a cut there would leave an empty list or
 * object.
 */
function hasValueBefore(view: Uint8Array, comma: number): boolean {
  let index = comma - 1;
  while ((view[index] ?? COMMA) <= SPACE) index -= 1;
  return view[index] !== OPEN_LIST && view[index] !== OPEN_OBJECT;
}

class Pieces {
  /** For each open level whether it is a list, and the index in `bytes` of the key of its latest value. */
  readonly lists: boolean[] = [];
  readonly keys: number[] = [];
  readonly #bytes: Buffer;
  readonly #encoding: 'utf8' | 'latin1';
  /** The lists and objects that were open at the start of this piece, outermost first. */
  #open: Container[] = [];
  #before = '';
  #text = '';
  #root: unknown;
  #begun = false;
  /** Bytes taken into this piece so far. */
  taken = 0;

  constructor(bytes: Buffer, encoding: 'utf8' | 'latin1') {
    this.#bytes = bytes;
    this.#encoding = encoding;
  }

  take(start: number, end: number): void {
    this.#text += this.#bytes.toString(this.#encoding, start, end);
    this.taken += end - start;
  }

  /** Ends a piece. @param lowest how many of the levels that were open at its start have stayed open */
  end(depth: number, lowest: number): void {
    this.#parse(this.#closing(depth));
    this.#open.length = Math.min(this.#open.length, lowest);
    for (let level = this.#open.length; level < depth; level += 1) this.#open.push(this.#latest(level));
    this.#before = this.#opening(depth);
  }

  whole(): unknown {
    this.#parse('');
    return this.#root;
  }

  #parse(after: string): void {
    const part: unknown = JSON.parse(this.#before + this.#text + after);
    this.#text = '';
    this.taken = 0;
    if (!this.#begun) this.#root = part;
    else this.#merge(part as Container);
    this.#begun = true;
  }

  #merge(part: Container): void {
    let rest: unknown = part;
    for (const container of this.#open) {
      if (Array.isArray(container)) {
        const items = rest as unknown[];
        for (let index = 1; index < items.length; index += 1) container.push(items[index]);
        rest = items[0];
      } else {
        const fields = rest as Record<string, unknown>;
        for (const key of Object.keys(fields)) if (key !== OPEN) setOwn(container, key, fields[key]);
        rest = fields[OPEN];
      }
    }
  }

  /** The list or object that is open on this level: the latest value of the level around it. */
  #latest(level: number): Container {
    const around = this.#open[level - 1];
    if (around === undefined) return this.#root as Container;
    if (Array.isArray(around)) return around.at(-1) as Container;
    return around[this.#keyOf(level)] as Container;
  }

  #keyOf(level: number): string {
    const start = this.keys[level] ?? 0;
    let end = start + 1;
    for (; this.#bytes[end] !== QUOTE; end += 1) if (this.#bytes[end] === BACKSLASH) end += 1;
    return JSON.parse(this.#bytes.toString(this.#encoding, start, end + 1)) as string;
  }

  #closing(depth: number): string {
    let text = '';
    for (let level = depth - 1; level >= 0; level -= 1) text += this.lists[level] === true ? ']' : '}';
    return text;
  }

  /** Opens the levels again for the next piece. A 0 stands for the value before the comma at which the document was cut. */
  #opening(depth: number): string {
    let text = '';
    for (let level = 0; level < depth; level += 1) text += this.lists[level] === true ? '[' : `{"${OPEN}":`;
    return `${text}0,`;
  }
}

/** Sets a property as `JSON.parse` does, for which `__proto__` is a key like any other. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
