/** C0 and C1 controls, DEL, line and paragraph separators, and the characters that reorder text on a screen. */
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Length of one message, warning or cause. The API server cuts warnings to this length when all of them together are long.
 */
const MAX_MESSAGE_RUNES = 256;
/** Length of all messages or all warnings of one answer together: the API server's limit for warnings. */
export const MAX_TOTAL_RUNES = 4096;
/** Length of a value quoted in a message: enough for any name. */
const MAX_QUOTED_RUNES = 80;

/**
 * Makes `text` safe for a terminal, a log line and a `Warning` header: unprintable characters become `\u{…}`, and text
 * beyond `maxRunes` is replaced by an ellipsis. The API server silently drops a warning with a control character.
 */
export function printable(text: string, maxRunes = MAX_MESSAGE_RUNES): string {
  // The text is cut before it is escaped as well, so that a value of 300 KiB costs nothing.
  const head = text.length > maxRunes * 4 ? text.slice(0, maxRunes * 4) : text;
  UNPRINTABLE.lastIndex = 0;
  const safe = UNPRINTABLE.test(head)
    ? head.replace(UNPRINTABLE, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`)
    : head;
  if (safe.length <= maxRunes) return safe;
  const runes = Array.from(safe);
  return runes.length <= maxRunes ? safe : `${runes.slice(0, maxRunes - 1).join('')}…`;
}

/** Quotes a value of the object under review for a message. */
export const quoted = (value: unknown): string => {
  if (typeof value === 'string') return `"${printable(value, MAX_QUOTED_RUNES)}"`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'a list' : 'an object';
};

/** The path of a map's key as Kubernetes writes it: `metadata.labels[grove.io/podgang]`. */
export const keyed = (path: string, key: string): string => `${path}[${printable(key, MAX_QUOTED_RUNES)}]`;

/** Length of a condition's or an Event's message. An Event allows 1,024 bytes; a terminal shows less. */
const MAX_STATUS_MESSAGE = 512;
/** The most groups named in a message; the others are counted. */
const MAX_GROUPS_NAMED = 8;

/** Characters that are read of a text: more than are ever shown, and far less than a megabyte. */
const MAX_READ = 16 * MAX_STATUS_MESSAGE;

/** Joins a text of several lines into one, for conditions, Events and tables. */
export const oneLine = (text: string): string => text.slice(0, MAX_READ).replaceAll(/\s+/g, ' ').trim();

/** The last converted text, kept since all Pods of a large gang wait for the same reason. */
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

/** Why a text is no valid YAML, by the parser's message, which is cut since the parser may quote any amount of the text. */
export function yamlTrouble({ message }: { readonly message: string }): string {
  // Recognised by the message, since the parser also reports a stack overflow as if it were a syntax error.
  if (message.includes('Maximum call stack size exceeded')) return 'it is nested too deeply';
  if (message.startsWith('Excessive alias count'))
    return 'its aliases unfold to more than any manifest needs';
  if (message.startsWith('Converting circular structure')) return 'one of its aliases contains itself';
  if (message.startsWith('Source contains multiple documents')) return 'it has more than one document';
  return printable(message);
}
