import {
  constructFromEvents,
  defineMappingTag,
  defineScalarTag,
  EVENT_ID,
  FAILSAFE_SCHEMA,
  NOT_RESOLVED,
  parseEvents,
  type Event,
} from 'js-yaml';
import { isScalar } from 'yaml';
import { isObject, type JsonObject } from '../../json/json.ts';
import { PLAIN_TAGS } from './yaml-dialect.ts';

/** A document that is one mapping, and the offset of its first key. */
export interface PlainDocument {
  readonly object: JsonObject;
  readonly start: number;
}

/** What the two read in different ways: a merge, a last line of spaces, and characters that separate lines or cannot be printed. */
const ELSEWHERE = /<<|\n +$|[\0-\t\v-\x1f\x7f-\x9f\u2028\u2029\ufeff]/;
/** What a text that is none may begin with: digits, signs and the words of YAML 1.1. */
const FIRST = ['', ...'0123456789+-.~yYnNtTfFoOeE'];

type Fields = Record<string, unknown>;

const schema = FAILSAFE_SCHEMA.withTags(
  defineMappingTag<Fields>('tag:yaml.org,2002:map', {
    create: () => ({}),
    addPair: (fields, key, value) => {
      if (typeof key !== 'string' || key === '__proto__') return 'no field of an object';
      fields[key] = value;
      return '';
    },
    has: (fields, key) => Object.hasOwn(fields, String(key)),
    keys: Object.keys,
    get: (fields, key) => fields[String(key)],
    identify: () => false,
  }),
  defineScalarTag<number | boolean | null>('tag:muster.dev,2026:plain', {
    implicit: true,
    implicitFirstChars: FIRST,
    resolve: (source) => {
      const tag = PLAIN_TAGS.find(({ test }) => test.test(source));
      if (tag === undefined) return NOT_RESOLVED;
      const made = tag.resolve(source);
      const value: unknown = isScalar(made) ? made.value : made;
      if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return value as number;
      throw new TypeError(`${source} has no value in JSON`);
    },
    identify: () => false,
  }),
);

/**
 * Reads a document that is one mapping without anchors, tags and directives, by js-yaml, which takes a tenth of the time of
 * `yaml` but keeps no positions. Undefined for any other, one with a fault included: `yaml` then reads it. Both give the
 * same object, which a test compares.
 */
export function plainYamlIn(text: string): PlainDocument | undefined {
  if (ELSEWHERE.test(text)) return undefined;
  try {
    const events = parseEvents(text, {});
    const [document, root] = events;
    if (document?.type !== EVENT_ID.DOCUMENT || document.directives.length > 0) return undefined;
    if (root?.type !== EVENT_ID.MAPPING || !events.every(isPlain)) return undefined;
    const [object, ...more] = constructFromEvents(events, { source: text, schema });
    return more.length === 0 && isObject(object) ? { object, start: root.start } : undefined;
  } catch {
    return undefined;
  }
}

function isPlain(event: Event): boolean {
  if (event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) return true;
  return event.type !== EVENT_ID.ALIAS && event.anchorStart < 0 && event.tagStart < 0;
}
