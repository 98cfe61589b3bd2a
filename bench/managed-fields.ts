/** What names an item of a list in FieldsV1, by the key that the list is merged on. */
const KEYS = ['containerPort', 'mountPath', 'uid', 'name'] as const;

/**
 * FieldsV1 of an object: for each field that a manager set, its path as nested objects. `f:` is a field, `k:` an item
 * of a list that is merged by key; plain values and lists that are replaced as a whole end in `{}`. Nearly half of a
 * Pod on the wire is this, and nobody who counts only the lines of a manifest expects it.
 */
export function fieldsOf(value: unknown): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      const key = typeof item === 'object' && item !== null ? KEYS.find((name) => name in item) : undefined;
      if (key === undefined) continue;
      const name = JSON.stringify({ [key]: (item as Record<string, unknown>)[key] });
      fields[`k:${name}`] = { '.': {}, ...fieldsOf(item) };
    }
    return fields;
  }
  if (typeof value !== 'object' || value === null) return fields;
  for (const [name, child] of Object.entries(value)) {
    if (child !== undefined) fields[`f:${name}`] = fieldsOf(child);
  }
  return fields;
}
