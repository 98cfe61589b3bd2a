import { own, ownObject, type JsonObject } from '../json/json.ts';
import { itemsAt, templateAt, textAt } from './listed-templates.ts';
import { path, type Path } from './path.ts';
import type { Template, WorkloadKind } from './workload-kind.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** The head and the groups of workers of a cluster's spec. */
function rayPods(spec: ReturnType<typeof own>, at: Path, reading: WorkloadReading): Template[] {
  // A RayJob may run in a cluster that is there already.
  if (spec === undefined || spec === null) return [];
  const autoscales = own(spec, 'enableInTreeAutoscaling') === true;
  const head: Template = {
    name: 'ray-head',
    template: templateAt(spec, path('headGroupSpec.template')),
    path: [...at, ...path('headGroupSpec.template')],
    replicas: 1,
    minAvailable: undefined,
  };
  const groups = itemsAt(reading, [...at, 'workerGroupSpecs']).map(({ item, at: group }, index): Template => {
    const count = [...group, 'replicas'];
    const minimum = [...group, 'minReplicas'];
    const hosts = reading.count([...group, 'numOfHosts'], 1);
    const least = reading.count(minimum, 0);
    // With its autoscaler a cluster begins with the least, and says no other number. GetWorkerGroupDesiredReplicas of
    // ray-project/kuberay keeps the number within the least and the most.
    const asked = reading.count(count, autoscales ? least : 1);
    const most = reading.count([...group, 'maxReplicas'], asked);
    const replicas = item['suspend'] === true ? 0 : Math.max(least, Math.min(asked, most));
    return {
      name: textAt(reading, [...group, 'groupName']) || `worker-group-${index}`,
      template: ownObject(item, 'template'),
      path: [...group, 'template'],
      replicas: reading.times(count, replicas, hosts),
      minAvailable: autoscales ? reading.times(minimum, Math.min(least, replicas), hosts) : undefined,
      count: { path: count, per: hosts },
      minimum: autoscales ? { path: minimum, per: hosts } : undefined,
    };
  });
  return [head, ...groups];
}

const SUMS = [
  'desiredWorkerReplicas',
  'readyWorkerReplicas',
  'availableWorkerReplicas',
  'minWorkerReplicas',
  'maxWorkerReplicas',
];

const says = {
  components: '`ray-head`, then the name of each group of workers',
  minimum: '`minReplicas` of the group where the cluster scales by itself; else all',
};

export const rayKinds: readonly WorkloadKind[] = [
  {
    group: 'ray.io',
    version: 'v1',
    kind: 'RayCluster',
    templates: (object: JsonObject, reading) => rayPods(own(object, 'spec'), ['spec'], reading),
    health: {
      phases: [{ path: 'status.state', values: ['failed', 'unhealthy'] }],
      conditions: ['ReplicaFailure'],
    },
    status: {
      sums: SUMS,
      phases: [{ path: 'state', order: ['failed', 'unhealthy', '', 'suspended', 'ready'], waiting: '' }],
    },
    kept: {
      always: ['spec.suspend', 'spec.workerGroupSpecs.*.minReplicas'],
      scaled: { flag: 'spec.enableInTreeAutoscaling', paths: ['spec.workerGroupSpecs.*.replicas'] },
      filled: [
        'spec.managedBy',
        'spec.workerGroupSpecs.*.numOfHosts',
        'spec.workerGroupSpecs.*.scaleStrategy',
      ],
      templates: ['spec.headGroupSpec.template', 'spec.workerGroupSpecs.*.template'],
    },
    says,
  },
  {
    group: 'ray.io',
    version: 'v1',
    kind: 'RayJob',
    templates: (object, reading) =>
      rayPods(own(own(object, 'spec'), 'rayClusterSpec'), path('spec.rayClusterSpec'), reading),
    health: {
      phases: [
        { path: 'status.jobDeploymentStatus', values: ['Failed'] },
        { path: 'status.jobStatus', values: ['FAILED'] },
      ],
      conditions: [],
    },
    status: {
      sums: ['succeeded', 'failed', ...SUMS.map((field) => `rayClusterStatus.${field}`)],
      phases: [
        {
          path: 'jobStatus',
          order: ['FAILED', 'STOPPED', '', 'PENDING', 'RUNNING', 'SUCCEEDED'],
          waiting: '',
        },
        {
          path: 'jobDeploymentStatus',
          order: [
            'Failed',
            'Retrying',
            'Suspending',
            'Suspended',
            '',
            'Initializing',
            'Waiting',
            'Running',
            'Complete',
          ],
          waiting: '',
        },
      ],
    },
    kept: {
      always: ['spec.suspend', 'spec.rayClusterSpec.workerGroupSpecs.*.minReplicas'],
      filled: ['spec.jobId', 'spec.managedBy', 'spec.rayClusterSpec.workerGroupSpecs.*.numOfHosts'],
      templates: [
        'spec.rayClusterSpec.headGroupSpec.template',
        'spec.rayClusterSpec.workerGroupSpecs.*.template',
      ],
    },
    says,
  },
];
