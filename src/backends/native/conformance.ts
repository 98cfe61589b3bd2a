import type { ConformanceSettings } from '../backend.ts';
import type { ClusterProbe } from '../cluster.ts';
import { LAYOUTS } from './units.ts';
import { apiVersionOf, GANG_APIS, markOf, type GangApi } from './gang-api.ts';

const none = (): Promise<undefined> => Promise.resolve(undefined);

/** A cluster that serves one generation of native gangs, and keeps every field of them. */
const clusterWith = (api: GangApi): ClusterProbe => ({
  versions: () => Promise.resolve([api.version]),
  resources: (groupVersion) =>
    Promise.resolve(groupVersion === apiVersionOf(api) ? [api.workloads, markOf(api)] : undefined),
  crdSchema: none,
  read: none,
  dryRunCreate: (_resource, object) => Promise.resolve(object),
});

/** Gates alone, and every generation of the API in both layouts. */
export const nativeTrials: Readonly<Record<string, ConformanceSettings>> = {
  'gates alone': {},
  ...Object.fromEntries(
    GANG_APIS.flatMap((api) =>
      LAYOUTS.map((groups) => [
        `${api.version}, ${groups}`,
        { config: { groups }, cluster: clusterWith(api) },
      ]),
    ),
  ),
};
