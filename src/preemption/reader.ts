/**
 * Who reads a text about other people's objects, and so what it may name: whoever runs the cluster, all; the owner of a gang,
 * what is in its namespace; nobody knows who, nothing.
 */
export type Audience = 'operator' | 'anybody' | { readonly namespace: string };

/** An object as a text calls it. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export const mayName = (reader: Audience, { namespace }: Pick<ObjectName, 'namespace'>): boolean =>
  reader === 'operator' || (reader !== 'anybody' && reader.namespace === namespace);

/** `Pod ml/web`, or what stands for it. */
export function nameFor(reader: Audience, what: string, object: ObjectName): string {
  if (mayName(reader, object)) return `${what} ${object.namespace}/${object.name}`;
  return `a ${what}${otherNamespaceFor(reader)}`;
}

/** Behind what is not named: that it is somebody else's, where it is known whose the reader's own is. */
export const otherNamespaceFor = (reader: Audience): string =>
  reader === 'anybody' ? '' : ' of another namespace';
