import { NAMESPACE, type Manifest } from './objects.ts';

/** The workloads of the fleet, and their policies, as a user would write them. */
export type Annotations = Readonly<Record<string, string>>;

/** A Pod template whose one container asks for that. */
export const template = (resources: object) => ({
  spec: { containers: [{ name: 'main', image: 'registry.example/train:1', resources }] },
});

export const job = (
  name: string,
  parallelism: number,
  requests: Annotations,
  annotations: Annotations = {},
): Manifest => ({
  ...{ apiVersion: 'batch/v1', kind: 'Job' },
  metadata: { name, namespace: NAMESPACE, annotations },
  spec: {
    // Karmada's API server keeps workloads as templates: none of them runs there.
    suspend: true,
    parallelism,
    completions: parallelism,
    template: { spec: { ...template({ requests }).spec, restartPolicy: 'Never' } },
  },
});

export const volcanoJob = (name: string): Manifest => {
  const gpus = (count: number) => template({ limits: { 'nvidia.com/gpu': count } });
  return {
    ...{ apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job' },
    metadata: { name, namespace: NAMESPACE },
    spec: {
      tasks: [
        { name: 'master', replicas: 1, template: gpus(1) },
        { name: 'worker', replicas: 4, minAvailable: 2, template: gpus(4) },
      ],
    },
  };
};

/** It sends the workload of its name to whichever clusters Muster finds. */
export const policyOf = (
  { apiVersion, kind, metadata: { name } }: Manifest,
  annotations: Annotations,
): Manifest => ({
  ...{ apiVersion: 'policy.karmada.io/v1alpha1', kind: 'PropagationPolicy' },
  metadata: { name, namespace: NAMESPACE, annotations },
  spec: {
    schedulerName: 'muster',
    resourceSelectors: [{ apiVersion, kind, name }],
    placement: { clusterAffinity: {} },
  },
});
