/** A key as one part of a JSON pointer (RFC 6901). */
export const pointer = (key: string): string =>
  key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;

/** The pointer to what stands at the end of these keys and positions. */
export const pointerTo = (path: readonly (string | number)[]): string =>
  path.map((step) => `/${pointer(String(step))}`).join('');
