import {
  Document,
  visit,
  type DocumentOptions,
  type ParseOptions,
  type SchemaOptions,
  type Tags,
} from 'yaml';

type Options = DocumentOptions & ParseOptions & SchemaOptions;

/**
 * kubectl and the API server read YAML 1.1: `defaultMode: 0644` is octal, an unquoted `yes` is true, `<<` merges.
 * Reading it as 1.2 would review another object than the cluster gets. What has no place in JSON is left out:
 * timestamps, binaries, sets and base-60 numbers are strings to them as well.
 */
const JSON_TAGS = new Set(['map', 'seq', 'str', 'null', 'bool', 'int', 'float', 'merge']);

export const READ_AS_KUBERNETES: Options = {
  version: '1.1',
  uniqueKeys: true,
  prettyErrors: false,
  customTags: (tags) =>
    tags.filter(
      (tag) =>
        typeof tag === 'string' ||
        (JSON_TAGS.has(tag.tag.replace('tag:yaml.org,2002:', '')) &&
          !('format' in tag && tag.format === 'TIME')),
    ),
};

/** C1 controls, DEL, and what reorders or hides text on a screen; C0 is escaped by the YAML and JSON writers. */
const UNPRINTABLE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const EVERY_UNPRINTABLE = new RegExp(UNPRINTABLE, 'g');

const escaped = (text: string): string =>
  text.replace(EVERY_UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A key `<<` in an object is a key; the library would write it as the instruction to merge. */
const withoutMerge = (tags: Tags): Tags =>
  tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:merge');

/** `value` as YAML that any reader takes for the same value, and that does nothing to a terminal. */
export function toYaml(value: unknown): string {
  const document = new Document(value, {
    version: '1.1',
    customTags: withoutMerge,
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar: (_, scalar) => {
      // Only a double-quoted scalar can hold an escape; and a key `<<` that is not quoted merges.
      const { value: text } = scalar;
      if (typeof text === 'string' && (text === '<<' || UNPRINTABLE.test(text))) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escaped(document.toString({ lineWidth: 0 }));
}

/** `value` as JSON, with the same care. */
export const toJson = (value: unknown, indent?: number): string =>
  escaped(JSON.stringify(value, null, indent));
