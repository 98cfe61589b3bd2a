/** One RFC 6902 operation. Only these are ever emitted: never `copy` or `move`, never a whole object. */
export type WriteOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string; readonly value?: never };

/** What the loop writes: it may also test what its judgement rests on. A failed `test` is answered with 422. */
export type PatchOperation =
  WriteOperation | { readonly op: 'test'; readonly path: string; readonly value: unknown };
