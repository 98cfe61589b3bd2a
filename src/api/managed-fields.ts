/** As the API server writes it: compact JSON. With spaces it is not found, and simply parsed. */
const KEY = '"managedFields":[';
/** What is searched for: the same from its first rare letter on, since a search stops at each of its first letters. */
const NEEDLE = Buffer.from(KEY.slice(KEY.indexOf('gedFields')));
const KEY_BYTES = Buffer.from(KEY);
const LEAD = KEY_BYTES.length - NEEDLE.length;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/**
 * The text of a JSON document with every list under a key `managedFields` emptied. In a Pod as an API server sends it
 * they are up to half of the bytes and more than half of the parsing, since each is an object with keys of its own,
 * and no decision ever looks at them.
 *
 * What is taken out is only ever the inside of such a list, up to its own closing bracket. The key stands behind `{` or
 * `,`, which inside a string would need its quotes escaped, so no string is ever cut; all that is left is parsed, and a
 * document that was broken outside of the lists still is.
 *
 * @param bytes valid UTF-8. Searched as bytes, which is several times faster than as a string; all that is looked for
 *   is ASCII, so no character is ever cut in two.
 */
export function withoutManagedFields(bytes: Buffer): string {
  let at = bytes.indexOf(NEEDLE);
  let text = '';
  let kept = 0;
  while (at >= 0) {
    const start = at + NEEDLE.length;
    const end = isKeyAt(bytes, at - LEAD) ? (endBeforeSpec(bytes, start) ?? endOfList(bytes, start)) : -1;
    if (end > start) {
      text += bytes.toString('utf8', kept, start);
      kept = end;
    }
    at = bytes.indexOf(NEEDLE, Math.max(end, start));
  }
  return kept === 0 ? bytes.toString('utf8') : text + bytes.toString('utf8', kept);
}

function isKeyAt(bytes: Buffer, at: number): boolean {
  const before = bytes[at - 1];
  if (before !== COMMA && before !== OPEN_OBJECT) return false;
  return bytes.compare(KEY_BYTES, 0, LEAD, at, at + LEAD) === 0;
}

/** What follows the list in a Pod: it is the last field of its metadata, and `spec` comes next. */
const BEHIND = Buffer.from('},"spec":{');

/**
 * Where the list that is open at `start` closes, found by two native searches instead of looking at each byte: the next
 * bracket, where no further list is opened before it and the Pod goes on behind it with its `spec`. That this bracket is
 * no part of a string, and so closes the list, follows from what comes behind: the quote before `spec` would otherwise
 * be the end of that string, and in no JSON document does a letter follow the end of a string.
 */
function endBeforeSpec(bytes: Buffer, start: number): number | undefined {
  const end = bytes.indexOf(CLOSE_LIST, start);
  const behind = end + 1 + BEHIND.length;
  if (end < 0 || behind > bytes.length) return undefined;
  if (bytes.compare(BEHIND, 0, BEHIND.length, end + 1, behind) !== 0) return undefined;
  const opened = bytes.indexOf(OPEN_LIST, start);
  return opened < 0 || opened > end ? end : undefined;
}

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
