import type { JsonObject } from '../../src/json/json.ts';
import type { PodGang } from '../../src/api/pod-gang.ts';
import type { Backend, BackendFactory } from '../../src/backends/backend.ts';
import type { ClusterProbe } from '../../src/backends/cluster.ts';
import { parsePodGang } from '../../src/gang/parse-pod-gang.ts';
import { podGang, type PodGangParts } from './pod-gangs.ts';

/** A PodGang of the namespace `ml`, as a backend is given it. */
export const gangOf = (parts: PodGangParts = {}): PodGang => parsePodGang(podGang(parts), 'ml').gang;

export const made = (factory: BackendFactory, config: JsonObject = {}, levels?: readonly string[]): Backend =>
  factory.create({ config, topology: { enabled: levels !== undefined, keys: levels ?? [] } });

/** A cluster that has these CRDs, by name and version, and nothing else. */
export function clusterWith(...crds: readonly object[]): ClusterProbe {
  const none = (): Promise<undefined> => Promise.resolve(undefined);
  return {
    versions: () => Promise.resolve([]),
    resources: none,
    read: none,
    dryRunCreate: () => Promise.reject(new Error('not asked for')),
    crdSchema: (name, version) => {
      const found = (crds as readonly Definition[]).find(({ metadata }) => metadata.name === name);
      const served = found?.spec.versions.find((one) => one.name === version);
      return Promise.resolve(served?.schema.openAPIV3Schema);
    },
  };
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: JsonObject };
    }[];
  };
}

export const initContext = (cluster?: ClusterProbe) => ({
  cluster,
  signal: new AbortController().signal,
});
