import {
  parsedJson,
  isObject,
  own,
  ownObject,
  ownString,
  type Json,
  type JsonObject,
} from '../../json/json.ts';
import { MUSTER_PREFIX } from '../../api/names.ts';
import type { OwnedObject } from '../../backends/cluster.ts';

/** What Muster wrote last, as JSON: tells what a backend no longer asks for from what others have added. */
export const ANNOTATION_APPLIED = `${MUSTER_PREFIX}applied`;

type Parts = Pick<OwnedObject, 'labels' | 'annotations' | 'spec' | 'body'>;

/** The record of what is being written, for {@link ANNOTATION_APPLIED}. */
export const recordOf = ({ labels = {}, annotations = {}, spec, body }: Parts): string =>
  JSON.stringify({ labels, annotations, spec, body });

/**
 * The JSON merge patch (RFC 7386) that makes `live` what is wanted; undefined where it is already. Three ways, as kubectl
 * applies: what was applied before and is not wanted any more goes, what is wanted and differs is set, and all else,
 * defaults and other people's fields, stays.
 */
export function ownedPatch(live: JsonObject, wanted: OwnedObject): JsonObject | undefined {
  const metadata = ownObject(live, 'metadata');
  const before = readRecord(ownString(ownObject(metadata, 'annotations'), ANNOTATION_APPLIED));
  const once = new Set(wanted.writtenOnce ?? []);
  const kept = (spec: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(spec).filter(([key]) => !once.has(key)));

  const labels = mergePatch(objectAt(before, 'labels'), wanted.labels ?? {}, ownObject(metadata, 'labels'));
  const annotations = mergePatch(
    objectAt(before, 'annotations'),
    wanted.annotations ?? {},
    ownObject(metadata, 'annotations'),
  );
  const spec = mergePatch(kept(objectAt(before, 'spec')), kept(wanted.spec), ownObject(live, 'spec'));
  const body = mergePatch(objectAt(before, 'body'), bodyOf(wanted), live);
  if ([labels, annotations, spec, body].every((part) => part === undefined)) return undefined;
  return {
    metadata: {
      ...(labels && { labels }),
      annotations: { ...annotations, [ANNOTATION_APPLIED]: recordOf(wanted) },
    },
    ...(spec && { spec }),
    ...body,
  };
}

/** What is no backend's to write in this way: it is somebody else's, or has a way of its own. */
const NO_BODY = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status']);

/** @throws Error where it names what is not its to write */
export function bodyOf({
  resource,
  name,
  body = {},
}: Pick<OwnedObject, 'resource' | 'name' | 'body'>): JsonObject {
  const wrong = Object.keys(body).find((key) => NO_BODY.has(key));
  if (wrong === undefined) return body;
  throw new Error(`${resource.kind} ${name}: body must not have ${wrong}: it has a place of its own`);
}

const objectAt = (value: Json | undefined, key: string): JsonObject => ownObject(value, key) ?? {};

/** A record that somebody has spoilt is no record: nothing is removed on its word. */
function readRecord(text: string | undefined): JsonObject | undefined {
  const value = text === undefined ? undefined : parsedJson(text);
  return isObject(value) ? value : undefined;
}

/** @returns undefined where nothing differs */
function mergePatch(
  before: JsonObject,
  wanted: JsonObject,
  live: JsonObject | undefined,
): JsonObject | undefined {
  const patch: [string, Json][] = [];
  for (const [key, value] of Object.entries(wanted)) {
    const [known, present] = [own(before, key), own(live, key)];
    if (isObject(value) && isObject(present)) {
      const inner = mergePatch(isObject(known) ? known : {}, value, present);
      if (inner !== undefined) patch.push([key, inner]);
      continue;
    }
    // Inside of a list nothing can be removed by name, so a list that is wanted in another way is written whole.
    const changed =
      Array.isArray(value) && known !== undefined && !(covers(known, value) && covers(value, known));
    if (changed || !covers(present, value)) patch.push([key, value]);
  }
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(wanted, key) && live !== undefined && Object.hasOwn(live, key))
      patch.push([key, null]);
  }
  return patch.length === 0 ? undefined : Object.fromEntries(patch);
}

/** Whether `live` says all that `wanted` does; what else it says are defaults and other people's fields. */
function covers(live: Json | undefined, wanted: Json): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      (wanted as readonly Json[]).every((value, index) => covers((live as readonly Json[])[index], value))
    );
  }
  if (!isObject(wanted)) return live === wanted;
  return isObject(live) && Object.entries(wanted).every(([key, value]) => covers(own(live, key), value));
}
