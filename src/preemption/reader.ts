/**
 * Who reads a text about other people's objects, and so what it may name: whoever runs the cluster, all; the owner of a gang,
 * what is in its namespace; nobody knows who, nothing.
 */
export type Reader = 'operator' | 'anybody' | { readonly namespace: string };

/** An object as a text calls it. */
export interface Called {
  readonly namespace: string;
  readonly name: string;
}

export const mayName = (reader: Reader, { namespace }: Pick<Called, 'namespace'>): boolean =>
  reader === 'operator' || (reader !== 'anybody' && reader.namespace === namespace);

/** `Pod ml/web`, or what stands for it. */
export function calledFor(reader: Reader, what: string, object: Called): string {
  if (mayName(reader, object)) return `${what} ${object.namespace}/${object.name}`;
  return `a ${what}${elsewhereFor(reader)}`;
}

/** Behind what is not named: that it is somebody else's, where it is known whose the reader's own is. */
export const elsewhereFor = (reader: Reader): string => (reader === 'anybody' ? '' : ' of another namespace');
