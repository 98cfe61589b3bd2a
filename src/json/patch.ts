/**
 * One RFC 6902 operation of an admission response. Muster never sends `copy` or `move`, and never replaces a whole object.
 */
export type WriteOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string; readonly value?: never };

/**
 * An operation of the loop, which may also `test` what its decision rests on. The API server answers a failed `test` with
 * 422.
 */
export type PatchOperation =
  WriteOperation | { readonly op: 'test'; readonly path: string; readonly value: unknown };

const constants = new WeakSet();

/** Freezes `value` and all its parts, so that code that has seen it before knows that it has not changed. */
export function constant<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) constant(inner);
  constants.add(value);
  return Object.freeze(value);
}

/** Whether it was made by {@link constant}. */
export const isConstant = (value: object): boolean => constants.has(value);

/** A key as one part of a JSON pointer (RFC 6901). */
export const pointer = (key: string): string =>
  key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;

/** The JSON pointer for these keys and indexes. */
export const pointerTo = (path: readonly (string | number)[]): string =>
  path.map((step) => `/${pointer(String(step))}`).join('');

/** An operation, and the reason for it in one clause for people. */
export interface Change {
  readonly operation: WriteOperation;
  readonly why: string;
}
