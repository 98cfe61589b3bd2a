import { isObject, own, ownString, type JsonObject } from '../json/json.ts';
import { kindAmong, kinds } from './kinds.ts';

/** Fields of a template's metadata that a controller copies into its Pods; a name is not among them. */
const COPIED = ['labels', 'annotations', 'finalizers'] as const;

/**
 * The Pod that admission will see for a template. A controller copies labels, annotations and finalizers, names the
 * Pod after its owner, and puts it into the owner's namespace (client-go's GetPodFromTemplate). Before any webhook,
 * the API server fills in defaults; `schedulerName` is the only one of them that decides anything here, so it is the
 * only one that is shown: some forty others would hide what Muster does. Owner references, the service account's
 * volume and a controller's own labels are left out for the same reason.
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
 * The Pod of a template with the host name that its controller gives to the first one, where it gives any: what runs on all
 * Pods of a gang depends on it. A Pod by another controller has none that is known beforehand.
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
