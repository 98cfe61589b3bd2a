import type { ClusterProbe, Resource } from '../../k8s/resource.ts';
import { isObject, own, ownList, ownString, type JsonObject } from '../../json/json.ts';
import type { KubeCallOptions, KubeClient } from './client.ts';
import { isNotFound } from './errors.ts';
import type { KubeObject } from './resources.ts';

/**
 * Reads which resources a cluster serves, without caching.
 * @param namespace where namespaced objects are tried by dry run
 */
export function clusterProbe(client: KubeClient, namespace: string, options: KubeCallOptions): ClusterProbe {
  const read = async (path: string): Promise<JsonObject | undefined> => {
    try {
      return await client.read<JsonObject>(path, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  return {
    read,
    versions: async (group) => {
      const found = await read(`/apis/${group}`);
      const served = (ownList(found, 'versions') ?? []).flatMap((entry) => ownString(entry, 'version') ?? []);
      const preferred = ownString(own(found, 'preferredVersion'), 'version');
      return [...served].sort((a, b) => Number(b === preferred) - Number(a === preferred));
    },
    resources: async (groupVersion) => {
      const found = await read(groupVersion.includes('/') ? `/apis/${groupVersion}` : `/api/${groupVersion}`);
      if (found === undefined) return undefined;
      return (ownList(found, 'resources') ?? []).flatMap((entry) => {
        const [plural, kind] = [ownString(entry, 'name'), ownString(entry, 'kind')];
        if (plural === undefined || kind === undefined || plural.includes('/')) return [];
        return [{ plural, kind, namespaced: own(entry, 'namespaced') === true }];
      });
    },
    crdSchema: async (crd, version) => {
      const found = await read(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd}`);
      const entry = (ownList(own(found, 'spec'), 'versions') ?? []).find(
        (candidate) => ownString(candidate, 'name') === version && own(candidate, 'served') === true,
      );
      const schema = own(own(entry, 'schema'), 'openAPIV3Schema');
      return isObject(schema) ? schema : undefined;
    },
    dryRunCreate: (resource, object) =>
      client.create<JsonObject>(resource, inNamespace(resource, namespace, object), {
        ...options,
        dryRun: true,
      }),
  };
}

function inNamespace(resource: Resource, namespace: string, object: JsonObject): KubeObject {
  const metadata = own(object, 'metadata');
  const place = resource.namespaced ? { namespace } : {};
  // The client sends the object unchanged; its type names only the fields that clients use.
  return {
    ...object,
    metadata: { ...(isObject(metadata) ? metadata : {}), ...place },
  } as unknown as KubeObject;
}
