import { own, ownString, type JsonObject } from '../json/json.ts';

/** A kind of object, as the API server's paths name it. */
export interface Resource {
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Splits `batch/v1` into group and version; the core group is empty. */
export function parseGroupVersion(apiVersion: string): Pick<Resource, 'group' | 'version'> {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

export const groupVersionString = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

/** Returns `metadata.name`; '' where there is none. */
export const objectName = (object: JsonObject): string => ownString(own(object, 'metadata'), 'name') ?? '';

/**
 * Requests to the cluster that a backend may make in `init`. None of them changes anything. Errors of the API server are
 * thrown.
 */
export interface ClusterProbe {
  /** Returns the versions that an API group serves, the preferred one first; empty where it serves none. */
  versions(group: string): Promise<readonly string[]>;
  /** Returns the resources of `group/version` without subresources; undefined where the version is not served. */
  resources(
    groupVersion: string,
  ): Promise<readonly Pick<Resource, 'plural' | 'kind' | 'namespaced'>[] | undefined>;
  /** Returns the structural schema (`openAPIV3Schema`) of a served version of a CRD; undefined where there is none. */
  crdSchema(crd: string, version: string): Promise<JsonObject | undefined>;
  /** GETs a path; undefined for 404. */
  read(path: string): Promise<JsonObject | undefined>;
  /** Returns the object as the API server would store it, by a dry run in Muster's own namespace. */
  dryRunCreate(resource: Resource, object: JsonObject): Promise<JsonObject>;
}
