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
 * kubectl and the API server read YAML 1.1: `defaultMode: 0644` is octal, an unquoted `yes` is true, `<<` merges.
 * Reading it as 1.2 would review another object than the cluster gets. What has no place in JSON is left out:
 * timestamps, binaries, sets and base-60 numbers are strings to them as well.
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

/** One schema for all documents: each would make its own. */
export const READ_AS_KUBERNETES: Options = {
  version: '1.1',
  uniqueKeys: true,
  prettyErrors: false,
  logLevel: 'error',
  schema,
};

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]|([^.[\]]+)/g;

/** `metadata.labels[grove.io/podgang]`, `spec.podgroups[0].name`: keys and list positions from the root. */
export const stepsOf = (field: string): string[] =>
  [...field.matchAll(STEP)].map(([, inQuotes, inBrackets, plain]) => inQuotes ?? inBrackets ?? plain ?? '');

/** Offset of the key of what stands at `steps`, or of the innermost that exists. */
export function offsetOf(document: Document, steps: readonly string[]): number {
  let offset = document.contents?.range?.[0] ?? 0;
  for (const { key, value } of stepsThrough(document, steps)) offset = (key ?? value)?.range?.[0] ?? offset;
  return offset;
}

/** The scalar at `steps`, with the text that it was read from. */
export function nodeAt(document: Document, steps: readonly string[]): Scalar | undefined {
  const found = [...stepsThrough(document, steps)];
  const last = found.length === steps.length ? found.at(-1)?.value : undefined;
  return isScalar(last) ? last : undefined;
}
