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

/** Specs that are kept: one for each group of Pods that are created, or workload that is asked about, at the same time. */
export const MOST_SPECS = 8;
/** The most bytes or characters of a spec that is kept. */
export const MAX_SPEC_LENGTH = 16 * 1024;
/** Specs that are learnt without one of them being of use; then only each {@link SELDOM}th is learnt. */
const MOST_CREDIT = 16;
const SELDOM = 64;

/** The last few that were learnt. Where hardly any is of use, most are not learnt. */
export class LastLearnt<Spec> {
  readonly all: Spec[] = [];
  #next = 0;
  #credit = MOST_CREDIT;
  #passed = 0;

  /** @param make undefined where it cannot be learnt; not called where it is not to be learnt */
  learn(make: () => Spec | undefined): Spec | undefined {
    if (this.#credit > 0) this.#credit -= 1;
    else {
      this.#passed = (this.#passed + 1) % SELDOM;
      if (this.#passed > 0) return undefined;
    }
    const one = make();
    if (one === undefined) return undefined;
    this.all[this.#next] = one;
    this.#next = (this.#next + 1) % MOST_SPECS;
    return one;
  }

  /** Called when one of them was of use. */
  used(): void {
    this.#credit = Math.min(this.#credit + 1, MOST_CREDIT);
  }
}

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
  readonly #learnt = new LastLearnt<SpecText>();

  /** The same as `JSON.parse`, but the spec may be shared, and is frozen then. @throws {SyntaxError} */
  parse(text: string): unknown {
    const start = startOfSpec(text);
    if (start === undefined) return JSON.parse(text) as unknown;
    for (const known of this.#learnt.all) {
      const found = foundAt(text, start, known);
      if (found === undefined) continue;
      const around = parsedAround(text, start, found);
      if (around === undefined) return JSON.parse(text) as unknown;
      this.#learnt.used();
      return around;
    }
    const body = JSON.parse(text) as unknown;
    const spec = own(objectOf(body), 'spec');
    if (isObject(spec)) this.#learnt.learn(() => textOf(text, start, spec));
    return body;
  }
}

/** A known spec in a text. */
interface Found {
  readonly spec: JsonObject;
  readonly end: number;
}

const objectOf = (body: unknown): JsonObject | undefined => ownObject(own(body, 'request'), 'object');

function startOfSpec(text: string): number | undefined {
  const at = text.indexOf(KEY);
  const before = text[at - 1];
  return before === ',' || before === '{' ? at + KEY.length : undefined;
}

function foundAt(text: string, at: number, { start, rest, spec }: SpecText): Found | undefined {
  if (!text.startsWith(start, at)) return undefined;
  const from = at + start.length;
  if (rest === undefined) return { spec, end: from };
  const hostname = text.slice(from, text.indexOf('"', from));
  const end = from + hostname.length;
  if (!HOSTNAME.test(hostname) || !text.startsWith(rest, end)) return undefined;
  return { spec: { ...spec, hostname }, end: end + rest.length };
}

/** Undefined where the spec is not that of the object, or the rest is no JSON. */
function parsedAround(text: string, at: number, { spec, end }: Found): unknown {
  let body: unknown;
  try {
    body = JSON.parse(`${text.slice(0, at)}"${PLACE}"${text.slice(end)}`);
  } catch {
    return undefined;
  }
  const object = objectOf(body) as Record<string, unknown> | undefined;
  if (object === undefined || own(object, 'spec') !== PLACE) return undefined;
  object['spec'] = spec;
  return body;
}

/** Undefined where the spec is too long, or written in another way than JavaScript and Go do. */
function textOf(text: string, at: number, spec: JsonObject): SpecText | undefined {
  const written = JSON.stringify(spec);
  const start = [written, escapedAsByGo(written)].find((one) => text.startsWith(one, at));
  if (start === undefined || start.length > MAX_SPEC_LENGTH) return undefined;
  const shared = constant(spec);
  const hostname = ownString(spec, 'hostname') ?? '';
  const key = '"hostname":"';
  const [before = '', after, ...more] = start.split(`${key}${hostname}"`);
  // Where there is one of them only, it is that of the spec itself.
  return after === undefined || more.length > 0 || !HOSTNAME.test(hostname)
    ? { start, rest: undefined, spec: shared }
    : { start: before + key, rest: `"${after}`, spec: shared };
}

/** As an API server writes strings, so that they can stand in HTML. */
const escapedAsByGo = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
