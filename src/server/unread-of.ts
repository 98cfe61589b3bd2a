import { MANAGED_FIELDS, type UnreadList } from '../json/unread-lists.ts';

/** How the head of a body names its namespace and what is done, and within how many bytes. */
const NAMESPACE = /"namespace":"([a-z0-9-]{1,63})"/;
const OPERATION = /"operation":"([A-Za-z]{1,63})"/;
const HEAD_BYTES = 1024;

/** The first bytes of a body that is not parsed yet. */
export class BodyHead {
  readonly #text: string;

  constructor(bytes: Buffer) {
    this.#text = bytes.toString('latin1', 0, HEAD_BYTES);
  }

  /** Only guessed, as all that is told of a head: nothing but the order and the cost of answers follows from it. */
  get namespace(): string {
    return NAMESPACE.exec(this.#text)?.[1] ?? '';
  }

  get operation(): string {
    return OPERATION.exec(this.#text)?.[1] ?? '';
  }
}

/** All that anybody reads. */
export const ENTIRE: readonly UnreadList[] = [MANAGED_FIELDS];

/** What is left out of a body before it is parsed. */
export const unreadOf = (
  {
    unread,
    readsAll,
  }: {
    readonly unread: readonly UnreadList[];
    readonly readsAll?: ((head: BodyHead) => boolean) | undefined;
  },
  bytes: Buffer,
): readonly UnreadList[] => (readsAll?.(new BodyHead(bytes)) === true ? ENTIRE : unread);
