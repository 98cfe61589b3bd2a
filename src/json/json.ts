import { printable } from '../text/printable.ts';
/**
 * Reading JSON that somebody else wrote. Keys are looked up with `Object.hasOwn`, so a label named
 * `__proto__` or `constructor` is a label like any other and nothing inherited is ever read.
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
 * `value` where it is an object. Fields whose names stand in our own source, and are none of `Object.prototype`, may be
 * read from it directly: nothing inherited can answer, and the engine makes such a read as fast as it gets.
 */
export const asObject = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

/** As {@link own}, where it is an object. */
export function ownObject(value: unknown, key: string): JsonObject | undefined {
  const found = own(value, key);
  return isObject(found) ? found : undefined;
}

/** As {@link own}, where it is a string. */
export function ownString(value: unknown, key: string): string | undefined {
  const found = own(value, key);
  return typeof found === 'string' ? found : undefined;
}

/** As {@link own}, where it is a list. */
export function ownList(value: unknown, key: string): readonly Json[] | undefined {
  const found = own(value, key);
  return Array.isArray(found) ? (found as readonly Json[]) : undefined;
}

/** Letters, digits and signs that mean the same in JSON and on a terminal: all that a proper name is made of. */
const PLAIN = /^[ !#-[\]-~]{0,256}$/;

/**
 * A string as JSON. V8 serialises strings that were put together from others, as most of ours are, by a way of several
 * times the price; nearly all are plain names, and need no more than their quotes.
 */
export const jsonText = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** The same of what people read: printable, and not too long. */
export const printableJson = (text: string, maxRunes?: number): string =>
  PLAIN.test(text) ? `"${text}"` : JSON.stringify(printable(text, maxRunes));

/** What a text is as JSON, as people and programs keep it in annotations; undefined for what is none. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
