/** C0 and C1 controls, DEL, line and paragraph separators, and the characters that reorder text on a screen. */
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** One message, warning or cause. The API server cuts warnings to this once they are long in sum. */
const MAX_MESSAGE_RUNES = 256;
/** All messages or all warnings of one answer together (the API server's own limit for warnings). */
export const MAX_TOTAL_RUNES = 4096;
/** A value that is quoted inside a message: long enough for any name. */
const MAX_QUOTED_RUNES = 80;

/**
 * `text` safe for a terminal, a log line and a `Warning` header: unprintable characters become `\u{…}`, and what
 * passes `maxRunes` is cut with an ellipsis. (A warning with a control character is dropped by the API server
 * without a word.)
 */
export function printable(text: string, maxRunes = MAX_MESSAGE_RUNES): string {
  // Cut before escaping too, so that a 300 KiB value costs nothing.
  const head = text.length > maxRunes * 4 ? text.slice(0, maxRunes * 4) : text;
  UNPRINTABLE.lastIndex = 0;
  const safe = UNPRINTABLE.test(head)
    ? head.replace(UNPRINTABLE, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`)
    : head;
  if (safe.length <= maxRunes) return safe;
  const runes = Array.from(safe);
  return runes.length <= maxRunes ? safe : `${runes.slice(0, maxRunes - 1).join('')}…`;
}

/** A value from the object under review, quoted for a message. */
export const quoted = (value: unknown): string => {
  if (typeof value === 'string') return `"${printable(value, MAX_QUOTED_RUNES)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'a list' : 'an object';
};

/** A field path with a map key: `metadata.labels[grove.io/podgang]`, as Kubernetes writes it. */
export const keyed = (path: string, key: string): string => `${path}[${printable(key, MAX_QUOTED_RUNES)}]`;
