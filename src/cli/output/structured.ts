import { Document, visit, type Tags } from 'yaml';
import { pointer } from '../../json/patch.ts';
import { isObject, type Json } from '../../json/json.ts';

/** C1 controls, DEL, and characters that reorder or hide text on a screen; the YAML and JSON writers escape C0. */
const UNPRINTABLE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const EVERY_UNPRINTABLE = new RegExp(UNPRINTABLE, 'g');

const escaped = (text: string): string =>
  text.replace(EVERY_UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** `value` as JSON without characters that control a terminal. */
export const toJson = (value: unknown, indent?: number): string =>
  escaped(JSON.stringify(value, null, indent));

/** A single object, or a List of several. */
export const oneOrList = (objects: readonly object[]): string =>
  `${toJson(objects.length === 1 ? objects[0] : objects, 2)}\n`;

/** YAML, and the line on which each field begins, from 1, by JSON pointer. */
export interface WrittenYaml {
  readonly lines: readonly string[];
  readonly lineOf: ReadonlyMap<string, number>;
}

/** `value` as YAML that every reader parses to the same value, without characters that control a terminal. */
export const toYaml = (value: Json): string => `${writeYaml(value).lines.join('\n')}\n`;

/**
 * As {@link toYaml}, with its lines. Maps and lists are written here, and only difficult scalars by the YAML library: its
 * tree for every text was three quarters of the time of a preview.
 */
export function writeYaml(value: Json): WrittenYaml {
  const writer = new Writer();
  writer.write(value, '', '', '');
  return writer;
}

class Writer implements WrittenYaml {
  readonly lines: string[] = [];
  readonly lineOf = new Map<string, number>();

  /**
   * @param lead text before the value on its line: `- `, `name: `, both
   * @param indent of the lines inside of the value
   */
  write(value: Json, path: string, lead: string, indent: string): void {
    if (Array.isArray(value) && value.length > 0) this.#list(value as readonly Json[], path, lead, indent);
    else if (isObject(value) && Object.keys(value).length > 0) {
      let first = this.#open(lead, indent);
      for (const key of Object.keys(value)) {
        const at = `${path}/${pointer(key)}`;
        this.lineOf.set(at, this.lines.length + 1);
        let text = `${first}${keyText(key)}`;
        if (key.length > LONGEST_KEY) {
          this.lines.push(`${first}? ${keyText(key)}`);
          text = indent;
        }
        this.write(value[key] ?? null, at, `${text}:`, `${indent}  `);
        first = indent;
      }
    } else {
      const [head = '', ...rest] = scalarText(value).split('\n');
      this.lines.push(lead.endsWith(':') ? `${lead} ${head}` : `${lead}${head}`);
      // The library wrote the text below a key without indent, so its further lines are already indented by two spaces.
      const outer = indent.slice(2);
      for (const line of rest) this.lines.push(line === '' ? '' : `${outer}${line}`);
    }
  }

  #list(items: readonly Json[], path: string, lead: string, indent: string): void {
    let first = this.#open(lead, indent);
    items.forEach((item, index) => {
      const at = `${path}/${index}`;
      this.lineOf.set(at, this.lines.length + 1);
      this.write(item, at, `${first}- `, `${indent}  `);
      first = indent;
    });
  }

  /** Below a key the first entry begins on the next line; in a list, on the line of its dash. */
  #open(lead: string, indent: string): string {
    if (!lead.endsWith(':')) return lead;
    this.lines.push(lead);
    return indent;
  }
}

/** Words that every reader of YAML 1.1 and 1.2 parses as a string. */
const PLAIN = /^[A-Za-z_/](?:[\w./@+=,()-]|:(?=[\w./@+=,()-])| (?=[\w./@+=,(]))*$/;
const NO_STRING = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|e[-+]?\d+)$/i;

/** Scalars that the library has written, since names and images repeat. */
const known = new Map<string, string>();
const MOST_KNOWN = 10_000;

function scalarText(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (Array.isArray(value)) return '[]';
  if (typeof value === 'object') return '{}';
  if (typeof value !== 'string') return inLibrary(value).slice('k: '.length);
  if (PLAIN.test(value) && !NO_STRING.test(value)) return value;
  const before = known.get(value);
  if (before !== undefined) return before;
  const text = inLibrary(value).slice('k: '.length);
  if (value.length < 200 && known.size < MOST_KNOWN) known.set(value, text);
  return text;
}

/** A YAML reader searches 1,024 characters for the colon of a key, so a longer key is written `? key`. */
const LONGEST_KEY = 150;

const keyText = (key: string): string =>
  PLAIN.test(key) && !NO_STRING.test(key) ? key : escaped(JSON.stringify(key));

/** The tags without the one for merges: the library then writes a key `<<` of an object as a key. */
const withoutMerge = (tags: Tags): Tags =>
  tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:merge');

/** `k: …`, without the line break at its end. */
function inLibrary(value: Json): string {
  const document = new Document({ k: value }, { version: '1.1', customTags: withoutMerge });
  visit(document, {
    Scalar: (_, scalar) => {
      // Only a double-quoted scalar can hold an escape.
      const { value: text } = scalar;
      if (typeof text === 'string' && (text === '<<' || UNPRINTABLE.test(text))) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escaped(document.toString({ lineWidth: 0 })).replace(/\n$/, '');
}
