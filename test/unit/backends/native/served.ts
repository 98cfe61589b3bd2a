import type { JsonObject } from '../../../../src/json/json.ts';
import type { Backend } from '../../../../src/backends/backend.ts';
import type { ClusterProbe } from '../../../../src/backends/cluster.ts';
import { native } from '../../../../src/backends/native/backend.ts';
import { json } from '../../../support/pods.ts';
import { initContext, made } from '../../../support/made-backend.ts';

export type Version = 'v1beta1' | 'v1alpha3' | 'v1alpha2' | 'v1alpha1';

export interface Served {
  /** Versions of scheduling.k8s.io, with the plurals of each. */
  readonly versions?: Readonly<Record<string, readonly string[]>>;
  /** Fields of a PodGroup that the API server drops without a word. */
  readonly drops?: readonly string[];
  /** Every question fails with this. */
  readonly down?: string;
}

/** What a release serves with its gates on. */
export const serving = (version: Version, drops: readonly string[] = []): Served => ({
  versions: {
    v1: ['priorityclasses'],
    [version]: version === 'v1alpha1' ? ['workloads'] : ['workloads', 'podgroups'],
  },
  drops,
});

/** What 1.37 serves with the gate CompositePodGroup on. */
export const withComposites = (drops: readonly string[] = []): Served => {
  const { versions } = serving('v1beta1');
  return { versions: { ...versions, v1alpha3: ['workloads', 'podgroups', 'compositepodgroups'] }, drops };
};

export interface Asked extends ClusterProbe {
  /** Each question, in order. */
  readonly questions: string[];
}

export function clusterServing({ versions = {}, drops = [], down }: Served): Asked {
  const questions: string[] = [];
  const answer = <T>(question: string, value: T): Promise<T> => {
    questions.push(question);
    return down === undefined ? Promise.resolve(value) : Promise.reject(new Error(down));
  };
  return {
    questions,
    versions: (group) =>
      answer(`versions ${group}`, group === 'scheduling.k8s.io' ? Object.keys(versions) : []),
    resources: (groupVersion) =>
      answer(
        `resources ${groupVersion}`,
        versions[groupVersion.replace('scheduling.k8s.io/', '')]?.map((plural) => ({
          plural,
          kind: plural,
          namespaced: true,
        })),
      ),
    crdSchema: () => answer('crdSchema', undefined),
    read: () => answer('read', undefined),
    dryRunCreate: ({ version, plural }, object) => {
      const spec = Object.fromEntries(
        Object.entries(object['spec'] as JsonObject).map(([field, value]) => [
          field,
          drops.includes(field) ? null : value,
        ]),
      );
      return answer(`dry run ${version} ${plural}`, json({ ...object, spec }));
    },
  };
}

/** The backend after its look at such a cluster. */
export async function kubeOn(served: Served, config: JsonObject = {}): Promise<Backend> {
  const backend = made(native, config);
  await backend.init(initContext(clusterServing(served)));
  return backend;
}
