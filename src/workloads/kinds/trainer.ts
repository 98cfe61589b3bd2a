import { isObject, own, ownList, type Json, type JsonObject } from '../../json/json.ts';
import type { Child, Kind } from '../kind.ts';
import { itemsAt, textAt } from '../listed-templates.ts';
import { path } from '../path.ts';
import type { Template } from '../workload-kind.ts';
import type { WorkloadReading } from '../workload-reading.ts';

/** A TrainJob's Pods belong to the JobSet that its controller creates. */
export const trainJob: Kind = {
  ...{ group: 'trainer.kubeflow.org', version: 'v1alpha1', kind: 'TrainJob', plural: 'trainjobs' },
  templates: trainers,
  fleet: {
    lua: `
local function patched(obj, spec)
  local patches, selector, tolerations = { "spec", "runtimePatches" }, {}, {}
  for index in ipairs(items(obj, patches)) do
    local jobs = joined(patches, { index, "trainingRuntimeSpec", "template", "spec", "replicatedJobs" })
    for _, job in ipairs(items(obj, jobs)) do
      if job.name == "node" then
        local pod = at(job, { "template", "spec", "template", "spec" })
        for key, value in pairs(object(at(pod, { "nodeSelector" })) or {}) do selector[key] = value end
        for _, one in ipairs(object(at(pod, { "tolerations" })) or {}) do tolerations[#tolerations + 1] = one end
      end
    end
  end
  spec.nodeSelector, spec.tolerations = selector, tolerations
  return spec
end

local function computed(obj, _, found)
  local trainer, number = object(at(obj, { "spec", "trainer" })), { "spec", "trainer", "numNodes" }
  local one = { name = "node", replicas = count(obj, number, 1), count = number }
  local container = { name = "node", resources = at(trainer, { "resourcesPerNode" }), env = at(trainer, { "env" }) }
  local spec = patched(obj, { containers = { container } })
  if trainer ~= nil then one.template = { spec = spec } end
  found[#found + 1] = one
end
`,
    health: { phases: [], conditions: ['Failed'] },
    status: { sums: [], phases: [] },
    kept: { always: ['spec.suspend'], filled: ['spec.managedBy', 'spec.runtimePatches'], templates: [] },
    says: { components: '`node`', minimum: 'all' },
  },
};

/** https://www.kubeflow.org/docs/components/trainer/operator-guides/job-template/; the JobSet has the TrainJob's name. */
const JOB_SET: Child = {
  ...{ group: 'jobset.x-k8s.io', version: 'v1alpha2', kind: 'JobSet' },
  ...{ suffix: '', spec: 'spec.template.spec' },
};

export const trainingRuntime: Kind = {
  ...{ group: 'trainer.kubeflow.org', version: 'v1alpha1', kind: 'TrainingRuntime' },
  plural: 'trainingruntimes',
  children: [JOB_SET],
};

export const clusterTrainingRuntime: Kind = {
  ...trainingRuntime,
  kind: 'ClusterTrainingRuntime',
  clusterScoped: true,
  plural: 'clustertrainingruntimes',
};

/** Name of the replicated job of the trainers in a TrainJob's runtime. */
const NODE = 'node';

/** Trainer V2 keeps templates in a runtime object; the TrainJob has only the number of nodes and the resources of each. */
function trainers(object: JsonObject, reading: WorkloadReading): Template[] {
  const count = path('spec.trainer.numNodes');
  const trainer = own(own(object, 'spec'), 'trainer');
  const resources = own(trainer, 'resourcesPerNode');
  const container: JsonObject = {
    ...(resources === undefined ? {} : { resources }),
    env: own(trainer, 'env') ?? [],
  };
  const spec: JsonObject = { ...patchesOf(reading), containers: [container] };
  return [
    {
      name: NODE,
      template: isObject(trainer) ? { spec } : undefined,
      path: path('spec.trainer'),
      replicas: reading.count(count, 1),
      minAvailable: undefined,
      count: { path: count, per: 1 },
    },
  ];
}

/** Fields that managers such as Kueue add to the trainers' Pods. */
function patchesOf(reading: WorkloadReading): JsonObject {
  let nodeSelector: JsonObject = {};
  const tolerations: Json[] = [];
  for (const { at } of itemsAt(reading, path('spec.runtimePatches'))) {
    const jobs = [...at, ...path('trainingRuntimeSpec.template.spec.replicatedJobs')];
    for (const { item, at: where } of itemsAt(reading, jobs)) {
      if (textAt(reading, [...where, 'name']) !== NODE) continue;
      const spec = own(own(own(own(item, 'template'), 'spec'), 'template'), 'spec');
      const selector = own(spec, 'nodeSelector');
      if (isObject(selector)) nodeSelector = { ...nodeSelector, ...selector };
      tolerations.push(...(ownList(spec, 'tolerations') ?? []));
    }
  }
  return { nodeSelector, tolerations };
}
