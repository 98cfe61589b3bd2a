import { isObject, own, ownString, type JsonObject } from '../json/json.ts';
import { kindAmong, kinds } from './kinds.ts';

/** Fields of a template's metadata that a controller copies into its Pods. The name is not copied. */
const COPIED = ['labels', 'annotations', 'finalizers'] as const;

/**
 * The Pod of a template as admission sees it. A controller copies labels, annotations and finalizers, names the Pod after
 * its owner, and creates it in the owner's namespace (client-go's GetPodFromTemplate). Before any webhook the API server
 * sets defaults: only the default of `schedulerName` affects Muster, so only that one is included, since about forty others
 * would hide Muster's changes. Owner references, the service account's volume and a controller's own labels are left out for
 * the same reason.
 */
export function podFromTemplate(
  template: JsonObject,
  owner: { name: string; namespace: string },
): JsonObject {
  const metadata = own(template, 'metadata');
  const copied = COPIED.flatMap((key) => {
    const value = own(metadata, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  const spec = own(template, 'spec');
  const scheduler = ownString(spec, 'schedulerName');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(owner.name === '' ? {} : { generateName: `${owner.name}-` }),
      namespace: owner.namespace,
      ...Object.fromEntries(copied),
    },
    spec: isObject(spec) && !scheduler ? { ...spec, schedulerName: 'default-scheduler' } : (spec ?? null),
  };
}

/**
 * The Pod of a template with the host name of the controller's first Pod, if the controller sets host names: programs on all
 * Pods of a gang depend on these names. Pods of other controllers have no predictable host name.
 * @param path of the template in its workload
 */
export function withHost(pod: JsonObject, workload: JsonObject, path: string): JsonObject {
  const spec = own(pod, 'spec');
  if (!isObject(spec) || ownString(spec, 'hostname') !== undefined) return pod;
  const name = ownString(own(workload, 'metadata'), 'name') ?? '';
  const host = kindAmong(kinds, workload)?.hostOf?.(workload, path);
  if (host === undefined || name === '') return pod;
  const { hostname, subdomain } = host;
  const found = ownString(spec, 'subdomain') ?? subdomain;
  return { ...pod, spec: { ...spec, hostname, ...(found !== undefined && { subdomain: found }) } };
}
