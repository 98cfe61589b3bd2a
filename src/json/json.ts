import { printable } from '../text/printable.ts';
/**
 * Reads JSON from untrusted sources. Keys are looked up with `Object.hasOwn`, so a label named `__proto__` or `constructor`
 * is a label like any other and nothing inherited is ever read.
 */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The own property `key` of `value`, or undefined where `value` is no object or has none. */
export function own(value: unknown, key: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Returns `value` where it is an object. Fields whose names are constants of this source, and no names of
 * `Object.prototype`, may be read from it directly: no inherited property has such a name, and V8 reads them fastest this
 * way.
 */
export const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

/** Returns the property as {@link own} does, where it is an object. */
export function ownObject(value: unknown, key: string): JsonObject | undefined {
  const found = own(value, key);
  return isObject(found) ? found : undefined;
}

/** Returns the property as {@link own} does, where it is a string. */
export function ownString(value: unknown, key: string): string | undefined {
  const found = own(value, key);
  return typeof found === 'string' ? found : undefined;
}

/** Returns the property as {@link own} does, where it is a list. */
export function ownList(value: unknown, key: string): readonly Json[] | undefined {
  const found = own(value, key);
  return Array.isArray(found) ? (found as readonly Json[]) : undefined;
}

/** Letters, digits and signs that need no escaping in JSON or on a terminal, as in all proper names. */
const PLAIN = /^[ !#-[\]-~]{0,256}$/;

/**
 * Converts a string to JSON. V8 serialises concatenated strings, as most of Muster's are, several times slower than flat
 * ones; nearly all are plain names that only need quotes.
 */
export const jsonText = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** Converts a text for people to JSON: printable, and at most `maxRunes` long. */
export const printableJson = (text: string, maxRunes?: number): string =>
  PLAIN.test(text) ? `"${text}"` : JSON.stringify(printable(text, maxRunes));

/** Parses JSON in a text, such as an annotation; undefined where the text is no JSON. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
