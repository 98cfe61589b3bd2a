/** A key under which a list may be left out, as the API server writes it: compact JSON. With spaces it is not found. */
export interface UnreadList {
  /** The key, its colon and the bracket that opens the list, and what an item begins with where that is always the same. */
  readonly text: Buffer;
  /**
   * The part of it that is searched for. It begins with a rare character, since a search stops at each of its first
   * ones, and has at most seven: longer ones are searched for by another way, which is slower here.
   */
  readonly needle: Buffer;
  readonly needleAt: number;
  /** Length of the text up to the bracket, with it. */
  readonly opened: number;
}

const listUnder = (key: string, items: string, needle: string): UnreadList => {
  const opened = `"${key}":[`;
  const text = opened + items;
  return {
    text: Buffer.from(text),
    needle: Buffer.from(needle),
    needleAt: text.indexOf(needle),
    opened: opened.length,
  };
};

/** In a Pod as an API server sends it up to half of the bytes: each item is an object with keys of its own. */
export const MANAGED_FIELDS = listUnder('managedFields', '', 'Fields"');
/** Most of what a Pod's author writes. */
export const ENVIRONMENT = listUnder('env', '{"name', '[{"name');

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
  const cuts: Cut[] = [];
  for (const key of keys) findLists(bytes, key, cuts);
  if (cuts.length === 0) return bytes.toString(encoding);
  if (keys.length > 1) cuts.sort((a, b) => a.start - b.start);
  let text = '';
  let kept = 0;
  for (const { start, end } of cuts) {
    // Within a list that is left out already.
    if (start < kept) continue;
    text += bytes.toString(encoding, kept, start);
    kept = end;
  }
  return text + bytes.toString(encoding, kept);
}

/** The inside of a list. */
interface Cut {
  readonly start: number;
  /** The index of its closing bracket. */
  readonly end: number;
}

function findLists(bytes: Buffer, list: UnreadList, cuts: Cut[]): void {
  const { needle, needleAt, opened } = list;
  for (let at = bytes.indexOf(needle); at >= 0;) {
    const key = at - needleAt;
    let next = at + needle.length;
    if (isKeyAt(bytes, key, list)) {
      const start = key + opened;
      const end = nextBracket(bytes, start) ?? endOfList(bytes, start);
      // No JSON, whatever follows. To go on would look at all that follows once for each further such key.
      if (end < 0) return;
      if (end > start) cuts.push({ start, end });
      next = Math.max(next, end);
    }
    at = bytes.indexOf(needle, next);
  }
}

function isKeyAt(bytes: Buffer, at: number, { text }: UnreadList): boolean {
  // From its end, since the needle is no more than the beginning of something else where the key is another.
  for (let index = text.length - 1; index >= 0; index -= 1) {
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
  while (bytes[at] === CLOSE_OBJECT) at += 1;
  if (bytes[at] !== COMMA) return undefined;
  at += bytes[at + 1] === OPEN_OBJECT ? 2 : 1;
  if (bytes[at] !== QUOTE || !isLetter(bytes[at + 1])) return undefined;
  const open = bytes.indexOf(OPEN_LIST, start);
  return open < 0 || open > end ? end : undefined;
}

const isLetter = (byte = 0): boolean => (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);

/** Where the list that is open at `start` closes: the index of its bracket, or -1 where it does not. */
function endOfList(bytes: Buffer, start: number): number {
  // A plain view and a length of its own: reading a Buffer's bytes in a loop takes twice the time.
  const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const { length } = view;
  let depth = 1;
  for (let index = start; index < length; index += 1) {
    const byte = view[index];
    if (byte === QUOTE) {
      // To the closing quote, or to the end of the document where there is none.
      for (index += 1; index < length; index += 1) {
        const inside = view[index];
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) index += 1;
      }
    } else if (byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return -1;
}
