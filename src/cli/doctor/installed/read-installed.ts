import type { JsonObject } from '../../../json/json.ts';
import { parseGroupVersion, objectName } from '../../../k8s/resource.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { ABSENT, attempt, found, type Read } from '../read.ts';
import type { Identity } from './wanted.ts';

const keyOf = ({ kind, namespace = '', name }: Identity): string => `${kind} ${namespace}/${name}`;

/** Asks for each of these objects. @param lists kinds of which all objects were listed already */
export async function readInstalled(
  client: KubeClient,
  identities: readonly Identity[],
  lists: Readonly<Record<string, Read<readonly JsonObject[]>>>,
): Promise<(identity: Identity) => Read<JsonObject>> {
  const entries = await Promise.all(
    [...new Map(identities.map((one) => [keyOf(one), one]))].map(async ([key, identity]) => {
      const list = lists[identity.kind];
      return [key, list === undefined ? await get(client, identity) : ofList(list, identity.name)] as const;
    }),
  );
  const read = new Map(entries);
  return (identity) => read.get(keyOf(identity)) ?? ABSENT;
}

function ofList(list: Read<readonly JsonObject[]>, name: string): Read<JsonObject> {
  if (list.state !== 'found') return list;
  const object = list.value.find((one) => objectName(one) === name);
  return object === undefined ? ABSENT : found(object);
}

const get = (
  client: KubeClient,
  { apiVersion, kind, namespace, name }: Identity,
): Promise<Read<JsonObject>> => {
  const lower = kind.toLowerCase();
  const plural = lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`;
  const resource = { ...parseGroupVersion(apiVersion), plural, kind, namespaced: namespace !== undefined };
  return attempt(async () => {
    const object = await client.get<JsonObject>({
      resource,
      name,
      ...(namespace === undefined ? {} : { namespace }),
    });
    return { ...object, apiVersion, kind };
  });
};
