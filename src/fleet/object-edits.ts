import { isObject, type Json, type JsonObject } from '../json/json.ts';
import { pointerTo, type WriteOperation } from '../json/patch.ts';
import { valueAt, type Path } from '../workloads/path.ts';

/** A field and its new value. */
export interface Edit {
  readonly path: Path;
  readonly value: Json;
}

/** A copy of `root` with the edits, which also create missing parents. Other parts are shared with `root`. */
export function withEdits(root: JsonObject, edits: readonly Edit[]): JsonObject {
  return edits.reduce<JsonObject>((object, { path, value }) => set(object, path, value) as JsonObject, root);
}

function set(into: Json | undefined, [step, ...rest]: Path, value: Json): Json {
  if (step === undefined) return value;
  if (Array.isArray(into) && typeof step === 'number') {
    return (into as readonly Json[]).map((item, index) => (index === step ? set(item, rest, value) : item));
  }
  const object = isObject(into) ? into : {};
  const inner = Object.hasOwn(object, step) ? object[step] : undefined;
  return { ...object, [step]: set(inner, rest, value) };
}

/**
 * The edits as JSON Patch operations for exactly this object. A missing parent is added together with its content, since an
 * operation below a missing parent would make the whole patch fail.
 */
export function operationsFor(root: JsonObject, edits: readonly Edit[]): WriteOperation[] {
  const operations: WriteOperation[] = [];
  let now = root;
  for (const edit of edits) {
    let depth = 1;
    while (depth < edit.path.length && takes(valueAt(now, edit.path.slice(0, depth)), edit.path[depth]))
      depth += 1;
    const path = edit.path.slice(0, depth);
    const op = valueAt(now, path) === undefined ? 'add' : 'replace';
    now = withEdits(now, [edit]);
    operations.push({ op, path: pointerTo(path), value: valueAt(now, path) ?? null });
  }
  return operations;
}

/** Whether `parent` can have a child with this key or position. */
const takes = (parent: Json | undefined, step: string | number | undefined): boolean =>
  typeof step === 'number' ? Array.isArray(parent) : isObject(parent);
