import type { Json } from './json.ts';
import { printable } from '../text/printable.ts';

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
