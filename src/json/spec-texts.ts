import { isObject, own, ownObject, ownString, type JsonObject } from './json.ts';
import { constant } from './patch.ts';
import { UNGUESSABLE } from './pieces.ts';

/** The text of one spec, in which the host name is left open. */
interface SpecText {
  /** What stands before the host name; the whole text where there is none. */
  readonly start: string;
  /** What stands after the host name; undefined where there is none. */
  readonly rest: string | undefined;
  readonly spec: JsonObject;
}

/** Specs that are kept: one for each group of Pods that are created at the same time. */
export const MOST_TEXTS = 8;
/** The most characters of a text that is kept. */
export const MAX_TEXT = 16 * 1024;
/** Specs that are learnt without one of them coming again; then only each {@link SELDOM}th is learnt. */
const MOST_CREDIT = 16;
const SELDOM = 64;

const KEY = '"spec":';
const HOSTNAME = /^[a-z0-9.-]+$/;
/** Stands for a spec while the rest is parsed. */
const PLACE = UNGUESSABLE;

/**
 * Parses bodies whose large lists were left out, and parses a spec that it has seen before only once: Pods of one template
 * differ in their metadata, host name and those lists.
 *
 * A spec is recognised only where it begins after `{"spec":` or `,"spec":`. Inside a string the quotes would be escaped, so in a
 * valid document the same text is the same value there. An invalid document stays invalid without it.
 */
export class SpecTexts {
  readonly #known: SpecText[] = [];
  #next = 0;
  #credit = MOST_CREDIT;
  #passed = 0;

  /** The same as `JSON.parse`, but that the spec may be shared and is frozen then. @throws {SyntaxError} */
  parse(text: string): unknown {
    const start = startOfSpec(text);
    if (start === undefined) return JSON.parse(text) as unknown;
    for (const known of this.#known) {
      const body = parsedAround(text, start, known);
      if (body === undefined) continue;
      this.#credit = Math.min(this.#credit + 1, MOST_CREDIT);
      return body;
    }
    const body = JSON.parse(text) as unknown;
    this.#learn(text, start, body);
    return body;
  }

  /** Where hardly any spec came again, most are not learnt. */
  #learn(text: string, start: number, body: unknown): void {
    if (this.#credit > 0) this.#credit -= 1;
    else {
      this.#passed = (this.#passed + 1) % SELDOM;
      if (this.#passed > 0) return;
    }
    const spec = own(objectOf(body), 'spec');
    const known = isObject(spec) ? learnt(text, start, spec) : undefined;
    if (known === undefined) return;
    this.#known[this.#next] = known;
    this.#next = (this.#next + 1) % MOST_TEXTS;
  }
}

const objectOf = (body: unknown): JsonObject | undefined => ownObject(own(body, 'request'), 'object');

function startOfSpec(text: string): number | undefined {
  const at = text.indexOf(KEY);
  const before = text[at - 1];
  return before === ',' || before === '{' ? at + KEY.length : undefined;
}

/** Undefined where the spec is another, is not that of the object, or the rest is no JSON. */
function parsedAround(text: string, at: number, known: SpecText): unknown {
  const { start, rest, spec } = known;
  if (!text.startsWith(start, at)) return undefined;
  let end = at + start.length;
  let hostname: string | undefined;
  if (rest !== undefined) {
    hostname = text.slice(end, text.indexOf('"', end));
    end += hostname.length;
    if (!HOSTNAME.test(hostname) || !text.startsWith(rest, end)) return undefined;
    end += rest.length;
  }
  let body: unknown;
  try {
    body = JSON.parse(`${text.slice(0, at)}"${PLACE}"${text.slice(end)}`);
  } catch {
    return undefined;
  }
  const object = objectOf(body) as Record<string, unknown> | undefined;
  if (object === undefined || own(object, 'spec') !== PLACE) return undefined;
  object['spec'] = hostname === undefined ? spec : { ...spec, hostname };
  return body;
}

/** Undefined where the spec is too long, or is not written as {@link writtenBy} writes it. */
function learnt(text: string, at: number, spec: JsonObject): SpecText | undefined {
  const written = JSON.stringify(spec);
  const start = [written, escapedAsByGo(written)].find((one) => text.startsWith(one, at));
  if (start === undefined || start.length > MAX_TEXT) return undefined;
  const hostname = ownString(spec, 'hostname') ?? '';
  const key = '"hostname":"';
  const [before = '', after, ...more] = start.split(`${key}${hostname}"`);
  // The one that is found is that of the spec itself.
  return after === undefined || more.length > 0 || !HOSTNAME.test(hostname)
    ? { start, rest: undefined, spec: constant(spec) }
    : { start: before + key, rest: `"${after}`, spec: constant(spec) };
}

/** As an API server writes strings, so that they can stand in HTML. */
const escapedAsByGo = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
