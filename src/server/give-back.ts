/**
 * Gives memory back that nobody reads any more, at once and not when garbage is collected next: V8 counts the bytes of
 * bodies as its own, and each few dozen bodies of half a megabyte would have it look through all of its heap.
 *
 * Not what shares its memory with others: of Buffer's pool, a buffer never has half.
 */
export function giveBack({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && length * 2 >= buffer.byteLength) buffer.transfer(0);
}
