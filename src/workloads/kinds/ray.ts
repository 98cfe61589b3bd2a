import { own, ownObject } from '../../json/json.ts';
import type { Child, Kind } from '../kind.ts';
import { itemsAt, templateAt, textAt } from '../listed-templates.ts';
import { path, type Path } from '../path.ts';
import { namedBy } from '../gang-label.ts';
import type { Template } from '../workload-kind.ts';
import type { WorkloadReading } from '../workload-reading.ts';

// ray-operator/controllers/ray/utils/constant.go of ray-project/kuberay; labelPod in controllers/ray/common/pod.go lists the
// labels that a template cannot set.
const RAY_CLUSTER = 'ray.io/cluster';
const RAY_NODE = 'ray.io/node-type';
const RAY_GROUP = 'ray.io/group';

const RAY_HEAD = 'ray-head';

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

/** The head and the worker groups in Lua. @param cluster Lua path of the cluster's spec */
const rayLua = (cluster: string): string => `
local function computed(obj, _, found)
  local root = ${cluster}
  local spec = at(obj, root)
  if spec == nil then return end
  local autoscales = at(spec, { "enableInTreeAutoscaling" }) == true
  found[#found + 1] = { name = "ray-head", template = templateAt(spec, { "headGroupSpec", "template" }), replicas = 1 }
  local groups = joined(root, { "workerGroupSpecs" })
  for index, item in ipairs(items(obj, groups)) do
    local here = joined(groups, { index })
    local number, minimum = joined(here, { "replicas" }), joined(here, { "minReplicas" })
    local hosts, least, replicas = count(obj, joined(here, { "numOfHosts" }), 1), count(obj, minimum, 0), 0
    -- With its autoscaler a cluster begins with the least, and says no other number.
    local asked = count(obj, number, autoscales and least or 1)
    local most = count(obj, joined(here, { "maxReplicas" }), asked)
    if item.suspend ~= true then replicas = math.max(least, math.min(asked, most)) end
    local one = {
      name = named(item.groupName, "worker-group", index),
      template = object(item.template),
      replicas = product(number, replicas * hosts),
      count = number,
      per = hosts,
    }
    if autoscales then
      one.minAvailable = product(minimum, math.min(least, replicas) * hosts)
      one.minimum, one.minimumPer = minimum, hosts
    end
    found[#found + 1] = one
  end
end
`;

export const rayCluster: Kind = {
  ...{ group: 'ray.io', version: 'v1', kind: 'RayCluster', plural: 'rayclusters' },
  templates: (object, reading) => rayPods(own(object, 'spec'), ['spec'], reading),
  gang: {
    short: 'raycluster',
    controllers: ['ray.io/RayCluster'],
    read: namedBy(RAY_CLUSTER, (pod) => (pod.label(RAY_NODE) === 'head' ? RAY_HEAD : pod.label(RAY_GROUP))),
    mark: (name, group) => ({
      labels:
        group === RAY_HEAD
          ? { [RAY_CLUSTER]: name, [RAY_NODE]: 'head', [RAY_GROUP]: 'headgroup' }
          : { [RAY_CLUSTER]: name, [RAY_NODE]: 'worker', [RAY_GROUP]: group },
      controller: { apiVersion: 'ray.io/v1', kind: 'RayCluster', name },
    }),
  },
  fleet: {
    lua: rayLua('{ "spec" }'),
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
};

/** A RayCluster, whose real name ends with random letters. */
const cluster = (spec: string): Child => ({
  ...{ group: 'ray.io', version: 'v1', kind: 'RayCluster' },
  ...{ suffix: '-hash', spec },
});
const submitter = (suffix: string, spec: string): Child => ({
  ...{ group: 'batch', version: 'v1', kind: 'Job' },
  ...{ suffix, spec, template: true },
});

export const rayJob: Kind = {
  ...{ group: 'ray.io', version: 'v1', kind: 'RayJob', plural: 'rayjobs' },
  templates: (object, reading) =>
    rayPods(own(own(object, 'spec'), 'rayClusterSpec'), path('spec.rayClusterSpec'), reading),
  // Created by constructRayClusterForRayJob and createNewK8sJob of ray-project/kuberay.
  children: [cluster('spec.rayClusterSpec'), submitter('', 'spec.submitterPodTemplate')],
  fleet: {
    lua: rayLua('{ "spec", "rayClusterSpec" }'),
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
};

/** A RayService creates one RayCluster, and another for each upgrade (constructRayClusterForRayService). */
export const rayService: Kind = {
  ...{ group: 'ray.io', version: 'v1', kind: 'RayService', plural: 'rayservices' },
  children: [cluster('spec.rayClusterConfig')],
};

/** A RayCronJob creates a RayJob for each scheduled time. */
export const rayCronJob: Kind = {
  ...{ group: 'ray.io', version: 'v1', kind: 'RayCronJob', plural: 'raycronjobs' },
  children: [
    cluster('spec.jobTemplate.rayClusterSpec'),
    submitter('-hash', 'spec.jobTemplate.submitterPodTemplate'),
  ],
};

/** The head and the worker groups of a cluster's spec. */
function rayPods(spec: ReturnType<typeof own>, at: Path, reading: WorkloadReading): Template[] {
  // A RayJob may use an existing cluster and have no cluster spec.
  if (spec === undefined || spec === null) return [];
  const autoscales = own(spec, 'enableInTreeAutoscaling') === true;
  const head: Template = {
    name: RAY_HEAD,
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
    // With the autoscaler a cluster starts with `minReplicas` unless `replicas` is set. GetWorkerGroupDesiredReplicas of
    // ray-project/kuberay limits the number to the minimum and the maximum.
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
