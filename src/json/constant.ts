const constants = new WeakSet();

/** `value`, frozen with all that is in it, so that whoever meets it again knows it to be what it was. */
export function constant<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) constant(inner);
  constants.add(value);
  return Object.freeze(value);
}

/** Whether it was made by {@link constant}. */
export const isConstant = (value: object): boolean => constants.has(value);
