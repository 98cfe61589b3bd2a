/** Keys under which a list may be left out, as the API server writes them: compact JSON. With spaces they are not found. */
export interface UnreadList {
  /**
   * What is searched for, a part of each key's text. It begins with a rare character, since a search stops at each of its
   * first ones, and has at most seven: longer ones are searched for by another way, which is slower here.
   */
  readonly needle: Buffer;
  readonly keys: readonly UnreadKey[];
}

interface UnreadKey {
  /** The key, its colon and the bracket that opens the list, and what an item begins with where that is always the same. */
  readonly text: Buffer;
  readonly needleAt: number;
  /** Length of the text up to the bracket, with it. */
  readonly opened: number;
}

const listsUnder = (keys: readonly string[], items: string, needle: string): UnreadList => ({
  needle: Buffer.from(needle),
  keys: keys.map((key) => {
    const opened = `"${key}":[`;
    const text = opened + items;
    return { text: Buffer.from(text), needleAt: text.indexOf(needle), opened: opened.length };
  }),
});

/** In a Pod as an API server sends it up to half of the bytes: each item is an object with keys of its own. */
export const MANAGED_FIELDS = listsUnder(['managedFields'], '', 'Fields"');
/** Most of what a Pod's author writes. */
export const ENVIRONMENT = listsUnder(['env'], '{"name', '[{"name');
/** The same, and what is most of the rest of a large Pod. One search finds all three. */
export const ENVIRONMENT_AND_VOLUMES = listsUnder(['env', 'volumes', 'volumeMounts'], '{"name', '[{"name');

/** @param field a path with dots, which a list of this name would end */
export const leavesOut = ({ keys }: UnreadList, field: string): boolean =>
  keys.some(({ text }) => text.toString().startsWith(`"${field.slice(field.lastIndexOf('.') + 1)}":[`));

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/**
 * The text of a JSON document with every list under one of `keys` emptied, as parsing such a list costs more than all
 * that is decided.
 *
 * What is taken out is only ever the inside of such a list, up to its own closing bracket. The key stands behind `{` or
 * `,`, which inside a string would need its quotes escaped, so no string is ever cut; all that is left is parsed, and a
 * document that was broken outside of the lists still is.
 *
 * @param bytes valid UTF-8. Searched as bytes, which is several times faster than as a string; all that is looked for
 *   is ASCII, so no character is ever cut in two.
 * @param encoding `latin1` where all bytes are ASCII, which is faster
 */
export function withoutLists(
  bytes: Buffer,
  keys: readonly UnreadList[],
  encoding: 'utf8' | 'latin1' = 'utf8',
): string {
  const cuts: Part[] = [];
  for (const key of keys) findLists(bytes, key, cuts);
  if (cuts.length === 0) return bytes.toString(encoding);
  return textOf(bytes, keptParts(bytes, cuts), encoding);
}

/**
 * The same for a large document, as the parts of it that are left, in steps: to search a megabyte in which the first
 * character of a key is everywhere takes twenty milliseconds.
 */
export function* partsWithoutLists(
  bytes: Buffer,
  keys: readonly UnreadList[],
): Generator<void, readonly Part[]> {
  const cuts: Part[] = [];
  for (const key of keys) {
    const { needle } = key;
    let due = STEP_BYTES;
    for (let from = 0; from < bytes.length;) {
      if (from >= due) {
        yield;
        due = from + STEP_BYTES;
      }
      // Also what begins in this step and ends in the next.
      const at = bytes.subarray(0, due + needle.length - 1).indexOf(needle, from);
      from = at < 0 ? due : at + needle.length;
      const start = at < 0 ? undefined : startOfList(bytes, at, key);
      if (start === undefined) continue;
      const end = nextBracket(bytes, start) ?? (yield* endInSteps(bytes, start));
      if (end < 0) break;
      if (end > start) cuts.push({ start, end });
      from = Math.max(from, end);
    }
  }
  return keptParts(bytes, cuts);
}
const STEP_BYTES = 64 * 1024;

export function textOf(bytes: Buffer, parts: readonly Part[], encoding: 'utf8' | 'latin1'): string {
  let text = '';
  for (const { start, end } of parts) text += bytes.toString(encoding, start, end);
  return text;
}

function keptParts(bytes: Buffer, cuts: Part[]): Part[] {
  cuts.sort((a, b) => a.start - b.start);
  const parts: Part[] = [];
  let kept = 0;
  for (const { start, end } of cuts) {
    // Within a list that is left out already.
    if (start < kept) continue;
    parts.push({ start: kept, end: start });
    kept = end;
  }
  parts.push({ start: kept, end: bytes.length });
  return parts;
}

/** Of a document, from one byte to another. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

function findLists(bytes: Buffer, list: UnreadList, cuts: Part[]): void {
  const { needle } = list;
  for (let at = bytes.indexOf(needle); at >= 0;) {
    let next = at + needle.length;
    const start = startOfList(bytes, at, list);
    if (start !== undefined) {
      const end = nextBracket(bytes, start) ?? endOfList(bytes, start);
      // No JSON, whatever follows. To go on would look at all that follows once for each further such key.
      if (end < 0) return;
      if (end > start) cuts.push({ start, end });
      next = Math.max(next, end);
    }
    at = bytes.indexOf(needle, next);
  }
}

/** Where the list begins that is under a key of these, behind its bracket, for a needle that was found. */
function startOfList(bytes: Buffer, needleAt: number, { keys }: UnreadList): number | undefined {
  for (const key of keys) {
    const at = needleAt - key.needleAt;
    if (isKeyAt(bytes, at, key)) return at + key.opened;
  }
  return undefined;
}

function isKeyAt(bytes: Buffer, at: number, { text, opened }: UnreadKey): boolean {
  // From the end of the key, in which keys differ; then what is behind its bracket.
  for (let index = opened - 1; index >= 0; index -= 1) {
    if (bytes[at + index] !== text[index]) return false;
  }
  for (let index = opened; index < text.length; index += 1) {
    if (bytes[at + index] !== text[index]) return false;
  }
  const before = bytes[at - 1];
  return before === COMMA || before === OPEN_OBJECT;
}

/**
 * Where the list that is open at `start` closes, found by two native searches instead of looking at each byte: the next
 * bracket, where no further list is opened before it, and the next key follows. That this bracket is no part of a string,
 * and so closes the list, follows from that key: its first quote would otherwise be the end of that string, and in no
 * JSON document does a letter follow the end of a string.
 */
function nextBracket(bytes: Buffer, start: number): number | undefined {
  const end = bytes.indexOf(CLOSE_LIST, start);
  if (end < 0) return undefined;
  let at = end + 1;
  while (bytes[at] === CLOSE_OBJECT || bytes[at] === CLOSE_LIST) at += 1;
  if (bytes[at] !== COMMA) return undefined;
  at += bytes[at + 1] === OPEN_OBJECT ? 2 : 1;
  if (bytes[at] !== QUOTE || !isLetter(bytes[at + 1])) return undefined;
  const open = bytes.indexOf(OPEN_LIST, start);
  return open < 0 || open > end ? end : undefined;
}

const isLetter = (byte = 0): boolean => (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);

/** Where the list that is open at `start` closes: the index of its bracket, or -1 where it does not. */
function endOfList(bytes: Buffer, start: number): number {
  const scan = { at: start, depth: 1, inString: false };
  scanOn(plain(bytes), scan, bytes.length);
  return scan.depth === 0 ? scan.at : -1;
}

function* endInSteps(bytes: Buffer, start: number): Generator<void, number> {
  const view = plain(bytes);
  const scan = { at: start, depth: 1, inString: false };
  while (scan.at < bytes.length) {
    scanOn(view, scan, Math.min(scan.at + STEP_BYTES, bytes.length));
    if (scan.depth === 0) return scan.at;
    yield;
  }
  return -1;
}

/** Goes on to the bracket that closes the list, or to `limit` and at most one character further. */
function scanOn(
  view: Uint8Array,
  scan: { at: number; depth: number; inString: boolean },
  limit: number,
): void {
  let { at, depth, inString } = scan;
  for (; at < limit; at += 1) {
    if (inString) {
      // To the closing quote, or to the limit where there is none.
      for (; at < limit; at += 1) {
        const inside = view[at];
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) at += 1;
      }
      inString = at >= limit;
      if (inString) break;
      continue;
    }
    const byte = view[at];
    if (byte === QUOTE) inString = true;
    else if (byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) break;
    }
  }
  Object.assign(scan, { at, depth, inString });
}

/**
 * A view of bytes for loops that look at each of them: reading a Buffer's takes twice the time. For such a loop the bytes
 * that it looks for are constants of its own file as well: V8 reads an imported one from memory each time, and a look at
 * half a megabyte took 1.4 times as long.
 */
export const plain = ({ buffer, byteOffset, length }: Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, length);
