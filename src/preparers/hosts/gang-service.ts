import type { JsonObject } from '../../json/json.ts';
import { LABEL_MANAGED_BY, LABEL_POD_GANG, MANAGED_BY_MUSTER } from '../../api/names.ts';
import type { HpcGang } from './hosts.ts';

/** The headless Service of a gang, and the subdomain of those of its Pods that have none. */
export const gangServiceName = (gang: string): string => gang;

/** Of whatever is made for a gang. */
export const objectMetadata = (gang: HpcGang, name: string): JsonObject => ({
  namespace: gang.namespace,
  name,
  labels: { [LABEL_MANAGED_BY]: MANAGED_BY_MUSTER, [LABEL_POD_GANG]: gang.name },
});

/**
 * The Service by which Pods of a gang find each other, unless they have one of their own.
 * @param subdomain of the Pods; undefined: none of their own
 */
export function gangService(
  gang: HpcGang,
  subdomain: string | undefined,
  { name, port }: { readonly name: string; readonly port: number },
): JsonObject[] {
  const service = gangServiceName(gang.name);
  if (subdomain !== undefined && subdomain !== service) return [];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: objectMetadata(gang, service),
      spec: {
        clusterIP: 'None',
        // They look for each other before any of them is ready.
        publishNotReadyAddresses: true,
        selector: { [LABEL_POD_GANG]: gang.name },
        ports: [{ name, protocol: 'TCP', port, targetPort: port }],
      },
    },
  ];
}
