/**
 * Lists that may be left out of a document, by their keys. They are found only in compact JSON, as the API server writes it.
 */
export interface UnreadList {
  /**
   * The text to search for, a part of each key's text. It begins with a rare character, since the search stops at each
   * occurrence of the first one. It has at most seven characters, since V8 searches longer ones by another, here slower,
   * algorithm.
   */
  readonly needle: Buffer;
  readonly keys: readonly UnreadKey[];
}

interface UnreadKey {
  /** The key with its colon and the opening bracket, and the start of each item where all items start alike. */
  readonly text: Buffer;
  readonly needleAt: number;
  /** Length of the text up to and including the bracket. */
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

/**
 * `managedFields`: up to half of the bytes of a Pod from the API server, and costly to parse, since each item has many keys.
 */
export const MANAGED_FIELDS = listsUnder(['managedFields'], '', 'Fields"');
/** `env`: most of what authors of Pods write. */
export const ENVIRONMENT = listsUnder(['env'], '{"name', '[{"name');
/** `env` and the other large lists of a Pod; one search finds all three. */
export const ENVIRONMENT_AND_VOLUMES = listsUnder(['env', 'volumes', 'volumeMounts'], '{"name', '[{"name');

/** Whether a list is left out. @param field a dotted path that ends with the list's name */
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
 * Returns the text of a JSON document with every list under one of `keys` emptied, since parsing such a list costs more than
 * the whole decision.
 *
 * Only the content of such a list is removed, up to its closing bracket. No string is ever cut: a key is found only after
 * `{` or `,`, and inside a string its quotes would be escaped. Everything else is parsed, so a document that is invalid
 * outside of the lists stays invalid.
 *
 * @param bytes valid UTF-8. It is searched as bytes, several times faster than as a string; all searched texts are ASCII, so
 *   no character is cut in two.
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
 * Returns the parts of a large document that are left, in steps: to search a megabyte that is full of the needle's first
 * character takes twenty milliseconds.
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
      // The range also covers a needle that begins in this step and ends in the next.
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
    // The key is inside a list that is left out already.
    if (start < kept) continue;
    parts.push({ start: kept, end: start });
    kept = end;
  }
  parts.push({ start: kept, end: bytes.length });
  return parts;
}

/** A part of a document, from one byte to another. */
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
      // The list is never closed, so this is no JSON. To go on would scan the rest once for each further key.
      if (end < 0) return;
      if (end > start) cuts.push({ start, end });
      next = Math.max(next, end);
    }
    at = bytes.indexOf(needle, next);
  }
}

/** The index after the opening bracket of the list, if the needle that was found belongs to one of these keys. */
function startOfList(bytes: Buffer, needleAt: number, { keys }: UnreadList): number | undefined {
  for (const key of keys) {
    const at = needleAt - key.needleAt;
    if (isKeyAt(bytes, at, key)) return at + key.opened;
  }
  return undefined;
}

function isKeyAt(bytes: Buffer, at: number, { text, opened }: UnreadKey): boolean {
  // Compares backwards from the end of the key, where keys differ, then what follows the bracket.
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
 * Finds where the list that is open at `start` closes by two native searches instead of a loop over all bytes: the next
 * closing bracket, if no list opens before it and the next key follows it. The key proves that the bracket is not inside a
 * string: otherwise the key's first quote would end that string, and in JSON no letter follows the end of a string.
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

/** The index of the bracket that closes the list open at `start`, or -1 where none does. */
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

/** Scans up to the bracket that closes the list, or to `limit` and at most one character beyond. */
function scanOn(
  view: Uint8Array,
  scan: { at: number; depth: number; inString: boolean },
  limit: number,
): void {
  let { at, depth, inString } = scan;
  for (; at < limit; at += 1) {
    if (inString) {
      // Skips to the closing quote, or to the limit.
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
 * A view of bytes for loops over each of them, since reading a Buffer's takes twice the time. For the same reason such a
 * loop compares with constants of its own file: V8 reads imported ones from memory each time, which made a scan of half a
 * megabyte take 1.4 times as long.
 */
export const plain = ({ buffer, byteOffset, length }: Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, length);
