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

/** A condition's or an Event's message: an Event takes 1,024 bytes, a terminal less. */
const MAX_STATUS_MESSAGE = 512;
/** A gang of hundreds of groups names the first few; the number of the others is enough to know. */
const MAX_GROUPS_NAMED = 8;

/** More than is shown; a text of a megabyte is not read to its end. */
const MAX_READ = 16 * MAX_STATUS_MESSAGE;

/** A text of several lines on one, as conditions, Events and tables have it. */
export const oneLine = (text: string): string => text.slice(0, MAX_READ).replaceAll(/\s+/g, ' ').trim();

/** The last text that was made fit to show: of a gang of a thousand each Pod waits for the same. */
let last = { text: '', shown: '' };

export function statusText(text: string): string {
  if (text !== last.text) last = { text, shown: printable(oneLine(text), MAX_STATUS_MESSAGE) };
  return last.shown;
}

/** `a, b, c and 12 more groups`. */
export function listed(items: readonly string[], what: string, atMost = MAX_GROUPS_NAMED): string {
  const named = items.slice(0, atMost).join(', ');
  const rest = items.length - atMost;
  return rest > 0 ? `${named} and ${rest} more ${what}` : named;
}

/** Why a text could not be read as YAML, by what the parser says: it quotes as much of the text as it likes. */
export function yamlTrouble({ message }: { readonly message: string }): string {
  // By their text: the parser also reports the first of these as if it were a fault of syntax.
  if (message.includes('Maximum call stack size exceeded')) return 'it is nested too deeply';
  if (message.startsWith('Excessive alias count'))
    return 'its aliases unfold to more than any manifest needs';
  if (message.startsWith('Converting circular structure')) return 'one of its aliases contains itself';
  if (message.startsWith('Source contains multiple documents')) return 'it has more than one document';
  return printable(message);
}
