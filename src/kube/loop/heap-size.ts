/**
 * About how many bytes a value made of JSON takes in memory, Maps included: good enough to hold one namespace's against
 * another's. A string counts a byte a character; what is shared with other values counts each time.
 */
export function heapSize(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (Array.isArray(value)) {
    let size = 32;
    for (const item of value) size += 8 + heapSize(item);
    return size;
  }
  let size = 32;
  if (value instanceof Map) {
    for (const [key, item] of value) size += 32 + heapSize(key) + heapSize(item);
    return size;
  }
  // Names of fields are most often shared; those of a map that a tenant has filled are not.
  for (const key in value) size += 8 + key.length + heapSize((value as Record<string, unknown>)[key]);
  return size;
}
