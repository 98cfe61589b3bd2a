import { randomBytes } from 'node:crypto';
import { plain, type Part } from './unread-lists.ts';

/** Bytes that are parsed at a time: about half a millisecond, at their dearest. */
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

/** The key under which a piece has what belongs to an object that was opened before. No sender can foresee it. */
const OPEN = `open-${randomBytes(16).toString('hex')}`;

type Container = Record<string, unknown> | unknown[];

/** It is nested deeper than it may be. */
export class TooDeep extends Error {}

/**
 * `JSON.parse` of a large document, piece by piece, so that others have their turn in between: a megabyte of small objects
 * holds the one thread for ten milliseconds.
 *
 * The document is cut at commas between values. Each piece becomes a document of its own by opening again what was open at
 * its beginning, and closing what is open at its end; what it holds is then put into what the pieces before have opened.
 * So V8 parses all of it, each comma has its value at either side, and what is no JSON as a whole is none in some piece.
 *
 * @param parts what is parsed: the document, or the document without the inside of some lists
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

/** Not where the comma follows a bracket that opens: closed behind that, it would be a list or object of nothing. */
function hasValueBefore(view: Uint8Array, comma: number): boolean {
  let index = comma - 1;
  while ((view[index] ?? COMMA) <= SPACE) index -= 1;
  return view[index] !== OPEN_LIST && view[index] !== OPEN_OBJECT;
}

class Pieces {
  /** Of each level that is open whether it is a list, and where the key begins under which its latest value is. */
  readonly lists: boolean[] = [];
  readonly keys: number[] = [];
  readonly #bytes: Buffer;
  readonly #encoding: 'utf8' | 'latin1';
  /** What was open when this piece began, outermost first. */
  #open: Container[] = [];
  #before = '';
  #text = '';
  #root: unknown;
  #begun = false;
  /** Bytes of this piece so far. */
  taken = 0;

  constructor(bytes: Buffer, encoding: 'utf8' | 'latin1') {
    this.#bytes = bytes;
    this.#encoding = encoding;
  }

  take(start: number, end: number): void {
    this.#text += this.#bytes.toString(this.#encoding, start, end);
    this.taken += end - start;
  }

  /** @param lowest levels of what was open before that are open still */
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

  /** What is open on this level: the latest value of the level around it. */
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

  /** The innermost has a value before the comma at which was cut. */
  #opening(depth: number): string {
    let text = '';
    for (let level = 0; level < depth; level += 1) text += this.lists[level] === true ? '[' : `{"${OPEN}":`;
    return `${text}0,`;
  }
}

/** As `JSON.parse` would: `__proto__` is a key like any other. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}
