import { isObject, type Json, type JsonObject } from '../json/json.ts';
import { pointerTo, type WriteOperation } from '../json/patch.ts';
import { valueAt, type Path } from '../workloads/path.ts';

/** A field and what it is to be. */
export interface Edit {
  readonly path: Path;
  readonly value: Json;
}

/** `root` with the edits made, parents that are missing included. What is not named is the same as before. */
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
 * The same edits as operations on exactly this object: an operation under a missing parent would be refused as a whole,
 * so the parent is added with what belongs into it.
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

/** Whether `parent` can have a child of this name or position. */
const takes = (parent: Json | undefined, step: string | number | undefined): boolean =>
  typeof step === 'number' ? Array.isArray(parent) : isObject(parent);
