import { own, ownString, type JsonObject } from '../json/json.ts';

/** One kind of object, as the API server's paths name it. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** `batch/v1` as its parts; the core group is empty. */
export function parseGroupVersion(apiVersion: string): Pick<Resource, 'group' | 'version'> {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

export const groupVersionString = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

/** `metadata.name`; '' where there is none. */
export const objectName = (object: JsonObject): string => ownString(own(object, 'metadata'), 'name') ?? '';
