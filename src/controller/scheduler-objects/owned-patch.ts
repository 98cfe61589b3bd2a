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

/** Muster's last write as JSON: separates fields that a backend no longer wants from fields that others have added. */
export const ANNOTATION_APPLIED = `${MUSTER_PREFIX}applied`;

type Parts = Pick<OwnedObject, 'labels' | 'annotations' | 'spec' | 'body'>;

/** The value of {@link ANNOTATION_APPLIED} for an object. */
export const recordOf = ({ labels = {}, annotations = {}, spec, body }: Parts): string =>
  JSON.stringify({ labels, annotations, spec, body });

/**
 * The JSON merge patch (RFC 7386) that turns `live` into `wanted`; undefined when nothing differs. A three-way merge,
 * as in `kubectl apply`: fields that were applied before and are no longer wanted are removed, wanted fields that
 * differ are set, and all others (defaults, fields of other writers) stay.
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

/** Top-level fields that a backend may not write through `body`: others own them, or they are written separately. */
const NO_BODY = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status']);

/** @throws Error when the body names a field that backends may not write */
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

/** Returns the record that was applied before; an unreadable record counts as none, so nothing is removed because of it. */
function readRecord(text: string | undefined): JsonObject | undefined {
  const value = text === undefined ? undefined : parsedJson(text);
  return isObject(value) ? value : undefined;
}

/** @returns undefined when nothing differs */
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
    // A merge patch cannot remove items of a list, so a list that differs is written whole.
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

/** Whether `live` contains everything in `wanted`; it may contain more, such as defaults and fields of other writers. */
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
