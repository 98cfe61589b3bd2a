import { isObject, own, type JsonObject } from '../../json/json.ts';

/** A text that is one JSON object. */
export interface JsonDocument {
  /** For a list whose items are given as {@link spans}, the list without them. */
  readonly object: JsonObject;
  /** Offset of the object. */
  readonly start: number;
  /** Positions of the items of a list. Absent for another object, and where an item is no object. */
  readonly spans: readonly Span[] | undefined;
  /** Line and column of an offset, 1-based. */
  positionOf(offset: number): { readonly line: number; readonly column: number };
}

interface Span {
  readonly start: number;
  readonly end: number;
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
  const seen = scanned(text);
  if (seen === undefined) return undefined;
  const start = text.indexOf('{');
  const positionOf = (offset: number) => positionAmong(seen.lineEnds, offset);
  const listed = listIn(text, seen);
  if (listed !== undefined) return { object: listed, start, spans: seen.items, positionOf };
  const object = parsed(text);
  return seen.keys === object?.keys
    ? { object: object.value, start, spans: undefined, positionOf }
    : undefined;
}

/**
 * The list without its items, each of which was parsed once to see that it is JSON, and dropped: a large list is many times as
 * large in memory as its text. Undefined for what is no such list.
 */
function listIn(text: string, { items, keys }: Scan): JsonObject | undefined {
  const [first] = items;
  if (first === undefined) return undefined;
  let [end, sum] = [first.start, 0];
  for (const [index, span] of items.entries()) {
    if (index > 0 && !/^\s*,\s*$/.test(text.slice(end, span.start))) return undefined;
    const item = parsed(text.slice(span.start, span.end));
    if (item === undefined) return undefined;
    sum += item.keys;
    end = span.end;
  }
  const list = parsed(`${text.slice(0, first.start)}${text.slice(end)}`);
  if (list === undefined || sum + list.keys !== keys) return undefined;
  const kind = own(list.value, 'kind');
  const rest = own(list.value, 'items');
  const isList =
    typeof kind === 'string' && kind.endsWith('List') && Array.isArray(rest) && rest.length === 0;
  return isList ? list.value : undefined;
}

function parsed(text: string): { readonly value: JsonObject; readonly keys: number } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { value, keys: keysOf(value) } : undefined;
  } catch {
    return undefined;
  }
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
  readonly items: { readonly start: number; end: number }[];
  readonly lineEnds: number[];
}

/** Scans a text as JSON without parsing its values; undefined where it is nested too deep. */
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
  for (; index < text.length && text.charCodeAt(index) !== QUOTE; index += 1)
    if (text.charCodeAt(index) === BACKSLASH) index += 1;
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
