import { Schema, type DocumentOptions, type ParseOptions, type SchemaOptions } from 'yaml';

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
