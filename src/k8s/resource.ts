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

/** What a backend may ask of the cluster in `init`. Nothing here leaves anything behind. Errors pass through. */
export interface ClusterProbe {
  /** Names of the versions that an API group serves, the preferred one first; empty where it serves none. */
  versions(group: string): Promise<readonly string[]>;
  /** What `group/version` serves, subresources aside; undefined where it is not served. */
  resources(
    groupVersion: string,
  ): Promise<readonly Pick<Resource, 'plural' | 'kind' | 'namespaced'>[] | undefined>;
  /** The structural schema (`openAPIV3Schema`) of one served version of a CRD; undefined where there is none. */
  crdSchema(crd: string, version: string): Promise<JsonObject | undefined>;
  /** GET of any path; undefined for 404. */
  read(path: string): Promise<JsonObject | undefined>;
  /** The object as the API server would store it, by a dry run in Muster's own namespace. */
  dryRunCreate(resource: Resource, object: JsonObject): Promise<JsonObject>;
}
