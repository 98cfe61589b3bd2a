import type { JsonObject } from '../json/json.ts';
import type { Resource } from './resource.ts';

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
