import type { ConformanceSettings } from '../backend.ts';
import type { ClusterProbe } from '../cluster.ts';
import { COMPOSITE_POD_GROUPS, GANG_APIS, markOf, type GangApi } from './gang-api.ts';
import { LAYOUTS } from './units.ts';

const none = (): Promise<undefined> => Promise.resolve(undefined);

/** A cluster that serves one generation of native gangs, and keeps every field of them. */
const clusterWith = (api: GangApi): ClusterProbe => ({
  versions: () => Promise.resolve([api.version]),
  resources: (groupVersion) =>
    Promise.resolve(
      [api.workloads, markOf(api), COMPOSITE_POD_GROUPS].filter(
        ({ group, version }) => `${group}/${version}` === groupVersion,
      ),
    ),
  crdSchema: none,
  read: none,
  dryRunCreate: (_resource, object) => Promise.resolve(object),
});

/** Gates alone, and every generation of the API in each layout that it has. */
export const nativeTrials: Readonly<Record<string, ConformanceSettings>> = {
  'gates alone': {},
  ...Object.fromEntries(
    GANG_APIS.flatMap((api) =>
      LAYOUTS.filter((groups) => api.nests || groups !== 'composite').map((groups) => [
        `${api.version}, ${groups}`,
        { config: { groups }, cluster: clusterWith(api) },
      ]),
    ),
  ),
};
