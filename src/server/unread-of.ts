import { MANAGED_FIELDS, type UnreadList } from '../api/unread-lists.ts';

/** How the head of a review that an API server sends names its namespace, and within how many bytes. */
const NAMESPACE = /"namespace":"([a-z0-9-]{1,63})"/;
const HEAD_BYTES = 1024;

/** Only guessed, since the body is not parsed yet: nothing but the order and the cost of answers follows from it. */
export const namespaceIn = (bytes: Buffer): string =>
  NAMESPACE.exec(bytes.toString('latin1', 0, HEAD_BYTES))?.[1] ?? '';

/** All that anybody reads. */
export const ENTIRE: readonly UnreadList[] = [MANAGED_FIELDS];

/** What is left out of a body before it is parsed. */
export const unreadOf = (
  {
    unread,
    readsAll,
  }: {
    readonly unread: readonly UnreadList[];
    readonly readsAll?: ((namespace: string) => boolean) | undefined;
  },
  bytes: Buffer,
): readonly UnreadList[] => (readsAll?.(namespaceIn(bytes)) === true ? ENTIRE : unread);
