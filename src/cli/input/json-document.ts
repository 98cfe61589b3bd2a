import { isObject, ownList, type JsonObject } from '../../json/json.ts';

/** A text that is one JSON object. */
export interface JsonDocument {
  readonly object: JsonObject;
  /** Offset of the object. */
  readonly start: number;
  /** Positions of the objects in its `items`, by `items[0]`. Absent where an item is no object. */
  readonly items: ReadonlyMap<string, Span> | undefined;
  /** Line and column of an offset, 1-based. */
  positionOf(offset: number): { readonly line: number; readonly column: number };
}

interface Span {
  readonly start: number;
  end: number;
}

/** Maximal nesting, deeper than any Kubernetes object: other code recurses over the document. */
const MAX_DEPTH = 200;

/**
 * Parses a text as JSON; undefined where it has to be read as YAML. Every JSON document is a YAML document of the same
 * meaning, but as YAML it takes twenty times as long, and half a GiB for 8 MiB of text. A document with a duplicate key is
 * left to the YAML reader, which reports it.
 */
export function jsonDocumentIn(text: string): JsonDocument | undefined {
  if (!/^[ \t\r\n]*\{/.test(text)) return undefined;
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    return undefined;
  }
  const seen = scanned(text);
  if (!isObject(object) || seen === undefined || seen.keys !== keysOf(object)) return undefined;
  const { items, lineEnds } = seen;
  const all = ownList(object, 'items')?.length === items.length;
  const named = new Map(items.map((span, index) => [`items[${index}]`, span]));
  const positionOf = (offset: number) => positionAmong(lineEnds, offset);
  return { object, start: text.indexOf('{'), items: all ? named : undefined, positionOf };
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;

interface Scan {
  keys: number;
  readonly items: Span[];
  readonly lineEnds: number[];
}

/** Scans a JSON text without parsing its values; undefined where it is nested too deep. */
function scanned(text: string): Scan | undefined {
  const found: Scan = { keys: 0, items: [], lineEnds: [] };
  let depth = 0;
  let inItems = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === COLON) found.keys += 1;
    else if (code === NEWLINE) found.lineEnds.push(index);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth === 2) inItems = code === OPEN_LIST && isItems(text, index);
      else if (depth === 3 && inItems && code === OPEN_OBJECT) found.items.push({ start: index, end: index });
      if (depth > MAX_DEPTH) return undefined;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      const last = found.items.at(-1);
      if (depth === 3 && inItems && code === CLOSE_OBJECT && last !== undefined) last.end = index + 1;
      depth -= 1;
    }
  }
  return found;
}

/** Offset of the quote that ends the string beginning at `start`. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (; text.charCodeAt(index) !== QUOTE; index += 1) if (text.charCodeAt(index) === BACKSLASH) index += 1;
  return index;
}

/** Whether `items` is the key of the list or object that opens at an offset. */
const isItems = (text: string, at: number): boolean =>
  /"items"[ \t\r\n]*:[ \t\r\n]*$/.test(text.slice(Math.max(0, at - 32), at));

function positionAmong(lineEnds: readonly number[], offset: number): ReturnType<JsonDocument['positionOf']> {
  let [low, high] = [0, lineEnds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lineEnds[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return { line: low + 1, column: offset - (lineEnds[low - 1] ?? -1) };
}

function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const inner of Object.values(value)) keys += keysOf(inner);
  return keys;
}
