/**
 * Gives memory back that nobody reads any more, at once and not when garbage is collected next: V8 counts the bytes of
 * bodies as its own, and each few dozen bodies of half a megabyte would have it look through all of its heap. Of small ones
 * it is a twentieth of a review.
 * @param piece as it came. Only where it is all of its memory: Node copies each piece of a body, and would it not, the next
 *   request could be in the same memory
 */
export function giveBack({ buffer, length }: Buffer): void {
  if (length === buffer.byteLength) free(buffer);
}

/** The same of a body, behind which its memory may go on. Not of Buffer's pool, of which a buffer never has half. */
export function giveBackBody({ buffer, length }: Buffer): void {
  if (length * 2 >= buffer.byteLength) free(buffer);
}

function free(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
