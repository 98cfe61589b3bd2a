import {
  Schema,
  isScalar,
  type DocumentOptions,
  type ParseOptions,
  type SchemaOptions,
  type Document,
  type Scalar,
} from 'yaml';
import { stepsThrough } from '../../config/document-source.ts';

type Options = DocumentOptions & ParseOptions & SchemaOptions;

/**
 * Tags with a JSON value. kubectl and the API server read YAML 1.1: `defaultMode: 0644` is octal, an unquoted `yes` is true,
 * `<<` merges. YAML 1.2 would yield another object than the cluster gets. Timestamps, binaries, sets and base-60 numbers are
 * left out, as they are strings for kubectl, too.
 */
const JSON_TAGS = new Set(['map', 'seq', 'str', 'null', 'bool', 'int', 'float', 'merge']);

const schema = new Schema({
  schema: 'yaml-1.1',
  resolveKnownTags: false,
  customTags: (tags) =>
    tags.filter(
      (tag) =>
        typeof tag === 'string' ||
        (JSON_TAGS.has(tag.tag.replace('tag:yaml.org,2002:', '')) &&
          !('format' in tag && tag.format === 'TIME')),
    ),
});

/** One shared schema: the library would otherwise build one for each document. */
export const READ_AS_KUBERNETES: Options = {
  version: '1.1',
  uniqueKeys: true,
  prettyErrors: false,
  logLevel: 'error',
  schema,
};

/** Tells what a text without quotes is, in the order in which the library asks. A text that none of them takes is a string. */
export const PLAIN_TAGS = schema.tags.flatMap((tag) =>
  tag.default === true && 'test' in tag && tag.test !== undefined && tag.resolve !== undefined
    ? [{ test: tag.test, resolve: (text: string): unknown => tag.resolve?.(text, notThat, {}) }]
    : [],
);

const notThat = (message: string): never => {
  throw new TypeError(message);
};

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]|([^.[\]]+)/g;

/** Keys and list positions of a path such as `metadata.labels[grove.io/podgang]` or `spec.podgroups[0].name`. */
export const stepsOf = (field: string): string[] =>
  [...field.matchAll(STEP)].map(([, inQuotes, inBrackets, plain]) => inQuotes ?? inBrackets ?? plain ?? '');

/** Offset of the key at `steps`, or of the innermost existing parent. */
export function offsetOf(document: Document, steps: readonly string[]): number {
  let offset = document.contents?.range?.[0] ?? 0;
  for (const { key, value } of stepsThrough(document, steps)) offset = (key ?? value)?.range?.[0] ?? offset;
  return offset;
}

/** The scalar at `steps`, with its text in the file. */
export function nodeAt(document: Document, steps: readonly string[]): Scalar | undefined {
  const found = [...stepsThrough(document, steps)];
  const last = found.length === steps.length ? found.at(-1)?.value : undefined;
  return isScalar(last) ? last : undefined;
}
