import type { JsonObject } from '../../../../src/json/json.ts';
import type { Backend } from '../../../../src/backends/backend.ts';
import type { ClusterProbe } from '../../../../src/backends/cluster.ts';
import { kai } from '../../../../src/backends/kai/backend.ts';
import { kaiPodGroups, type KaiRelease } from '../../../cluster/support/crds/kai.ts';
import { clusterWith, initContext, made } from '../../../support/made-backend.ts';

export const ZONE = 'topology.kubernetes.io/zone';
export const RACK = 'example.com/rack';
export const HOST = 'kubernetes.io/hostname';
export const LEVELS = [ZONE, RACK, HOST];

/** A cluster with this KAI. `topologies` undefined: it serves none. */
export const kaiCluster = (
  release: KaiRelease,
  topologies: readonly JsonObject[] | undefined = [],
): ClusterProbe => ({
  ...clusterWith(kaiPodGroups(release)),
  read: (path) =>
    Promise.resolve(
      path === '/apis/kai.scheduler/v1alpha1/topologies' && topologies !== undefined
        ? { items: topologies }
        : undefined,
    ),
});

export const topology = (name: string, levels: readonly string[], labels: JsonObject = {}): JsonObject => ({
  metadata: { name, labels },
  spec: { levels: levels.map((nodeLabel) => ({ nodeLabel })) },
});

export const OURS: JsonObject = { 'app.kubernetes.io/managed-by': 'muster' };

/** A backend that has looked at a cluster. */
export async function readyKai(
  probe: ClusterProbe | undefined,
  config: JsonObject = {},
  levels: readonly string[] | undefined = LEVELS,
): Promise<Backend> {
  const backend = made(kai, config, levels);
  await backend.init(initContext(probe));
  return backend;
}
