import { isObject, own, ownObject, type JsonObject } from './json.ts';
import { constant } from './patch.ts';
import { UNGUESSABLE } from './pieces.ts';
import { LastLearnt, MAX_SPEC_LENGTH } from './spec-texts.ts';
import {
  ENVIRONMENT_AND_VOLUMES,
  MANAGED_FIELDS,
  plain,
  withoutLists,
  type UnreadList,
} from './unread-lists.ts';

/** The text of one spec, in which what differs from Pod to Pod of one template is left open. */
export interface KnownSpec {
  /** What stands before, between and after the {@link open} places. */
  readonly segments: readonly Buffer[];
  readonly open: readonly OpenPlace[];
  /** The spec without its large lists, and with the host name of the first. */
  readonly light: JsonObject;
  /** How often in a row it was found and of no use. */
  idle: number;
}

/** `token`: the end of the name of the volume that the API server adds for a service account. */
type OpenPlace = 'hostname' | 'token';

/** A known spec in a body. */
export interface FoundSpec {
  readonly known: KnownSpec;
  readonly start: number;
  readonly end: number;
  readonly hostname: string | undefined;
  /** Whether the body was parsed around it by {@link parsedAround}. */
  fits: boolean;
}

const MAX_OPEN = 64;
/** A spec that is found so often in a row without any use is not looked for any more. */
const MOST_IDLE = 8;

const KEY = Buffer.from('"spec":');
const HOSTNAME = 'hostname';
const OPEN_PLACES = /"hostname":"([a-z0-9.-]+)"|"name":"kube-api-access-([a-z0-9]+)"/g;
const TOKEN_VOLUME = 'kube-api-access-';
/** Stands for a spec while the rest is parsed. */
const PLACE = UNGUESSABLE;

const QUOTE = 0x22;
const COMMA = 0x2c;
const DASH = 0x2d;
const DOT = 0x2e;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Recognises specs by their bytes, so that they need not be parsed again. Further Pods of one template differ in their
 * metadata, host name and the volume of their token; a workload that is asked about again in its metadata and status.
 *
 * A value is recognised only where it begins after `{"spec":` or `,"spec":`. Inside a string the quotes would be escaped, so
 * in a valid document the same bytes are the same value there. An invalid document stays invalid without it.
 */
export class KnownSpecs {
  /** What is left out of the bodies in which specs are looked for. */
  readonly among: readonly UnreadList[];
  readonly #learnt = new LastLearnt<KnownSpec>();

  constructor(among: readonly UnreadList[]) {
    this.among = among;
  }

  find(bytes: Buffer): FoundSpec | undefined {
    if (this.#learnt.all.length === 0) return undefined;
    const start = startOfSpec(bytes);
    if (start === undefined) return undefined;
    for (const known of this.#learnt.all) {
      const found = known.idle < MOST_IDLE ? foundAt(bytes, start, known) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The spec of this body is kept for the next. Where hardly any came again, most are not. */
  learn(bytes: Buffer): KnownSpec | undefined {
    return this.#learnt.learn(() => {
      const start = startOfSpec(bytes);
      const end = start === undefined ? undefined : endOfObject(bytes, start);
      if (start === undefined || end === undefined) return undefined;
      return knownOf(bytes.toString('latin1', start, end), bytes.toString('utf8', start, end));
    });
  }

  /** Notes whether a found spec was of use. */
  used(known: KnownSpec, use: boolean): void {
    known.idle = use ? 0 : known.idle + 1;
    if (use) this.#learnt.used();
  }
}

/**
 * The review without the large lists of its object. Undefined where the spec that was found is not the object's, or the rest is
 * no JSON.
 */
export function parsedAround(bytes: Buffer, found: FoundSpec, encoding: 'utf8' | 'latin1'): unknown {
  const { known, start, end, hostname } = found;
  const head = withoutLists(bytes.subarray(0, start), [MANAGED_FIELDS], encoding);
  let body: unknown;
  try {
    body = JSON.parse(`${head}"${PLACE}"${bytes.toString(encoding, end)}`);
  } catch {
    return undefined;
  }
  const object = ownObject(own(body, 'request'), 'object') as Record<string, unknown> | undefined;
  if (own(object, 'spec') !== PLACE || object === undefined) return undefined;
  object['spec'] = hostname === undefined ? known.light : { ...known.light, hostname };
  found.fits = true;
  return body;
}

function startOfSpec(bytes: Buffer): number | undefined {
  const at = bytes.indexOf(KEY);
  const before = bytes[at - 1];
  const start = at + KEY.length;
  return at > 0 && (before === COMMA || before === OPEN_OBJECT) && bytes[start] === OPEN_OBJECT
    ? start
    : undefined;
}

function foundAt(bytes: Buffer, start: number, known: KnownSpec): FoundSpec | undefined {
  const { segments, open } = known;
  let at = start;
  let hostname: string | undefined;
  for (let index = 0; index < segments.length; index += 1) {
    const segment = segments[index];
    if (segment === undefined || at + segment.length > bytes.length) return undefined;
    if (bytes.compare(segment, 0, segment.length, at, at + segment.length) !== 0) return undefined;
    at += segment.length;
    const place = open[index];
    if (place === undefined) continue;
    const from = at;
    while (isOfName(bytes[at], place)) at += 1;
    if (at === from) return undefined;
    if (place === HOSTNAME) hostname = bytes.toString('latin1', from, at);
  }
  return { known, start, end: at, hostname, fits: false };
}

/** Characters that JSON does not escape. A token has no dash, as all names of Muster's own objects have. */
const isOfName = (byte = 0, place: OpenPlace): boolean =>
  (byte >= 0x61 && byte <= 0x7a) ||
  (byte >= 0x30 && byte <= 0x39) ||
  (place === HOSTNAME && (byte === DASH || byte === DOT));

/** @param latin1 the spec with a character for each byte; `text`: as it is read */
function knownOf(latin1: string, text: string): KnownSpec | undefined {
  const places = [...latin1.matchAll(OPEN_PLACES)];
  const hosts = places.filter(([, host]) => host !== undefined);
  // The host name is left open only where it is surely that of the spec.
  const host = hosts.length === 1 ? hosts[0]?.[1] : undefined;
  const light = lightOf(text, host);
  if (light === undefined || places.length > MAX_OPEN) return undefined;
  const segments: Buffer[] = [];
  const open: OpenPlace[] = [];
  let from = 0;
  for (const { 0: whole, 1: named, 2: token, index } of places) {
    if (named !== undefined && host === undefined) continue;
    const value = named ?? token ?? '';
    const start = index + whole.length - 1 - value.length;
    segments.push(Buffer.from(latin1.slice(from, start), 'latin1'));
    open.push(named === undefined ? 'token' : HOSTNAME);
    from = start + value.length;
  }
  segments.push(Buffer.from(latin1.slice(from), 'latin1'));
  return { segments, open, light, idle: 0 };
}

/** The parsed spec without large lists; undefined where what is left open is not where it should be. */
function lightOf(text: string, host: string | undefined): JsonObject | undefined {
  const open = host === undefined ? text : text.replace(`"hostname":"${host}"`, `"hostname":"${PLACE}"`);
  const cut = withoutLists(Buffer.from(open), [ENVIRONMENT_AND_VOLUMES]);
  if (cut.includes(TOKEN_VOLUME)) return undefined;
  let spec: unknown;
  try {
    // The whole is parsed as well: what is left out has to be JSON.
    JSON.parse(text);
    spec = JSON.parse(cut);
  } catch {
    return undefined;
  }
  if (!isObject(spec)) return undefined;
  if (host === undefined) return constant(spec);
  return own(spec, HOSTNAME) === PLACE ? constant({ ...spec, hostname: host }) : undefined;
}

/** The index after the brace that closes the object at `start`; undefined where none does within the length of a known spec. */
function endOfObject(bytes: Buffer, start: number): number | undefined {
  const view = plain(bytes);
  const end = Math.min(view.length, start + MAX_SPEC_LENGTH);
  let depth = 0;
  for (let at = start; at < end; at += 1) {
    const byte = view[at];
    if (byte === QUOTE) {
      for (at += 1; at < end && view[at] !== QUOTE; at += 1) if (view[at] === BACKSLASH) at += 1;
    } else if (byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_OBJECT) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
