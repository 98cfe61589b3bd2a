/** Plain workloads whose templates ask for a gang under an HPCPolicy, by label and annotation alone. */
import { KUBE } from './gang-cluster.ts';

export const podTemplate = (labels: object = {}, spec: object = {}, policy = 'flux'): object => ({
  metadata: {
    labels: { 'muster.dev/gang': 'true', ...KUBE, ...labels },
    annotations: { 'muster.dev/hpc-policy': policy },
  },
  // No kubelet ends them here.
  spec: {
    ...{ restartPolicy: 'Never', terminationGracePeriodSeconds: 0 },
    ...{ containers: [{ name: 'main', image: 'lammps', command: ['lmp'] }], ...spec },
  },
});
/** Of so many Pods. */
export const indexedJob = (name: string, pods: number, spec: object = {}, more: object = {}): object => ({
  ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name, ...more } },
  spec: {
    ...{ completionMode: 'Indexed', completions: pods, parallelism: pods, template: podTemplate() },
    ...spec,
  },
});
/** Of Pods that are made all at once. */
export const statefulSet = (name: string, replicas: number): object => ({
  ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name } },
  spec: {
    ...{ replicas, serviceName: name, podManagementPolicy: 'Parallel' },
    selector: { matchLabels: { app: name } },
    template: podTemplate({ app: name }, { restartPolicy: 'Always' }),
  },
});
