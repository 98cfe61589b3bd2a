/** One RFC 6902 operation. Only these are ever emitted: never `copy` or `move`, never a whole object. */
export type WriteOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string; readonly value?: never };

/** What the loop writes: it may also test what its judgement rests on. A failed `test` is answered with 422. */
export type PatchOperation =
  WriteOperation | { readonly op: 'test'; readonly path: string; readonly value: unknown };

const constants = new WeakSet();

/** `value`, frozen with all that is in it, so that whoever meets it again knows it to be what it was. */
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

/** The pointer to what stands at the end of these keys and positions. */
export const pointerTo = (path: readonly (string | number)[]): string =>
  path.map((step) => `/${pointer(String(step))}`).join('');

/** An operation with the reason for it, one clause, for people. */
export interface Change {
  readonly operation: WriteOperation;
  readonly why: string;
}
