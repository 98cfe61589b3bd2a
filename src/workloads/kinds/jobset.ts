import { MARK_GANG_PER } from '../../api/names.ts';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { hasLabel, isPart } from '../gang-label.ts';
import { JOB_PODS_LUA, jobPods, jobWarnings } from '../job-pods.ts';
import type { Host, Kind, OrderedStart } from '../kind.ts';
import { itemsAt, textAt } from '../listed-templates.ts';
import { orderedBy, orderedByList, orderedByTopology } from '../ordered-start.ts';
import { path, valueAt, type Path } from '../path.ts';
import type { Template } from '../workload-kind.ts';
import { WorkloadReading } from '../workload-reading.ts';

// https://jobset.sigs.k8s.io/docs/concepts/#jobset-labels: labels of Jobs and Pods. A Job's name is <JobSet>-<replicated
// job>-<index>.
const JOBSET = 'jobset.sigs.k8s.io/jobset-name';
const JOBSET_UID = 'jobset.sigs.k8s.io/jobset-uid';
const REPLICATED_JOB = 'jobset.sigs.k8s.io/replicatedjob-name';
const JOB_INDEX = 'jobset.sigs.k8s.io/job-index';
// pkg/webhooks/pod_webhook.go of kubernetes-sigs/jobset refuses the Pods of a Job until the Pod with index 0 has a node. It
// does not when the second annotation says that nodes have been labelled beforehand.
const EXCLUSIVE_TOPOLOGY = 'alpha.jobset.sigs.k8s.io/exclusive-topology';
const NODES_ARE_LABELLED = 'alpha.jobset.sigs.k8s.io/node-selector';

export const jobSet: Kind = {
  ...{ group: 'jobset.x-k8s.io', version: 'v1alpha2', kind: 'JobSet', plural: 'jobsets' },
  templates: replicatedJobs,
  hostOf,
  gang: {
    short: 'jobset',
    controllers: ['batch/Job'],
    marked: JOBSET,
    read: (pod, { name: job }) => {
      const [name, group, index] = [JOBSET, REPLICATED_JOB, JOB_INDEX].map((key) => pod.label(key) ?? '');
      if (job !== `${name}-${group}-${index}`) return { differs: JOBSET };
      const per = pod.label(MARK_GANG_PER) ?? pod.annotation(MARK_GANG_PER) ?? 'jobset';
      if (per !== 'jobset' && per !== 'replicatedjob') return { differs: MARK_GANG_PER };
      const uid = pod.label(JOBSET_UID);
      const part = per === 'replicatedjob' ? { part: group ?? '' } : {};
      return { name: name ?? '', uid, group: group ?? '', ...part };
    },
    mark: (name, group) => ({
      labels: { [JOBSET]: name, [REPLICATED_JOB]: group, [JOB_INDEX]: '0' },
      controller: { apiVersion: 'batch/v1', kind: 'Job', name: `${name}-${group}-0` },
    }),
    partIsGroup: true,
    hosts: (name, { name: group, replicas, each = replicas }) =>
      Array.from({ length: each > 0 ? Math.ceil(replicas / each) : 0 }, (_, job) => ({
        ...{ prefix: `${name}-${group}-${job}-`, from: 0, count: each },
      })),
    completions,
    orderedStart: (workload) => [...jobsInOrder(workload), ...exclusiveTopology(workload)],
    // A restart replaces all of its Pods together.
    replaces: () => 'together',
    warnings: (workload) =>
      (ownList(own(workload, 'spec'), 'replicatedJobs') ?? []).flatMap((item, index) =>
        jobWarnings(own(own(item, 'template'), 'spec'), `spec.replicatedJobs[${index}].template.spec`),
      ),
  },
  fleet: {
    lua: `${JOB_PODS_LUA}
local function computed(obj, _, found)
  local jobs = { "spec", "replicatedJobs" }
  for index, item in ipairs(items(obj, jobs)) do
    local here = joined(jobs, { index })
    local number = joined(here, { "replicas" })
    local each = jobPods(obj, joined(here, { "template", "spec" }))
    found[#found + 1] = {
      name = named(item.name, "job", index),
      template = object(at(item, { "template", "spec", "template" })),
      replicas = product(number, count(obj, number, 1) * each),
      count = number,
      per = each,
    }
  end
end
`,
    health: { phases: [{ path: 'status.terminalState', values: ['Failed'] }], conditions: ['Failed'] },
    status: {
      sums: ['restarts', 'restartsCountTowardsMax'],
      phases: [{ path: 'terminalState', order: ['Failed', '', 'Completed'], waiting: '' }],
    },
    kept: {
      always: ['spec.suspend'],
      filled: ['spec.network', 'spec.successPolicy', 'spec.startupPolicy', 'spec.managedBy'],
      templates: ['spec.replicatedJobs.*.template.spec.template'],
    },
    says: { components: 'the name of each replicated job', minimum: 'all' },
  },
};

function replicatedJobs(_: JsonObject, reading: WorkloadReading): Template[] {
  return itemsAt(reading, path('spec.replicatedJobs')).map(({ item, at }, index) => {
    const count = [...at, 'replicas'];
    const job = [...at, 'template', 'spec'];
    const each = jobPods(reading, job);
    return {
      name: textAt(reading, [...at, 'name']) || `job-${index}`,
      template: ownObject(own(own(item, 'template'), 'spec'), 'template'),
      path: [...job, 'template'],
      replicas: reading.times(count, reading.count(count, 1), each),
      minAvailable: undefined,
      count: { path: count, per: each },
    };
  });
}

/** Pods of a replicated job that have to succeed: the completions of each of its Jobs. */
function completions(name: string, reading: WorkloadReading): number {
  const jobs = itemsAt(reading, path('spec.replicatedJobs'));
  return jobs
    .filter(({ at }) => textAt(reading, [...at, 'name']) === name)
    .reduce((sum, { at }) => {
      const job = [...at, 'template', 'spec'];
      const each = reading.count([...job, 'completions'], reading.count([...job, 'parallelism'], 1));
      return sum + reading.times(at, reading.count([...at, 'replicas'], 1), each);
    }, 0);
}

const podTemplateOf = (item: Json): Json | undefined => own(own(own(item, 'template'), 'spec'), 'template');

/** Replicated jobs of the gang that start after other ones of the gang. */
function jobsInOrder(workload: JsonObject): OrderedStart[] {
  const spec = own(workload, 'spec');
  const isMember = (item: Json): boolean => hasLabel(podTemplateOf(item)) && !isPart(podTemplateOf(item));
  if ((ownList(spec, 'replicatedJobs') ?? []).filter(isMember).length < 2) return [];
  const inOrder = ownString(own(spec, 'startupPolicy'), 'startupPolicyOrder') === 'InOrder';
  const order = { field: 'spec.startupPolicy.startupPolicyOrder', instead: 'AnyOrder' };
  const namesIn = (on: Json | undefined): readonly (Json | undefined)[] =>
    Array.isArray(on) ? (on as readonly Json[]).map((one) => ownString(one, 'name')) : [];
  return [
    ...(inOrder ? [orderedBy(workload, order)] : []),
    ...orderedByList(workload, { field: 'spec.replicatedJobs', isMember, namesIn }),
  ];
}

/** The annotation is read on the JobSet, on the template of a replicated job, and on the template of its Pods. */
function exclusiveTopology(workload: JsonObject): OrderedStart[] {
  const reading = new WorkloadReading(workload);
  const items = ownList(own(workload, 'spec'), 'replicatedJobs') ?? [];
  const found = items.flatMap((_, index) => {
    const at: Path = ['spec', 'replicatedJobs', index, 'template'];
    const pods = [...at, 'spec', 'template'];
    if (!hasLabel(valueAt(workload, pods)) || jobPods(reading, [...at, 'spec']) < 2) return [];
    const places = [[], at, pods];
    if (places.some((one) => orderedByTopology(workload, one, NODES_ARE_LABELLED).length > 0)) return [];
    return places.flatMap((one) => orderedByTopology(workload, one, EXCLUSIVE_TOPOLOGY));
  });
  return [...new Map(found.map((one) => [one.field, one])).values()];
}

function hostOf(workload: JsonObject, at: string): Host | undefined {
  const name = ownString(own(workload, 'metadata'), 'name');
  const spec = own(workload, 'spec');
  const index = Number(/replicatedJobs\[(\d+)\]/.exec(at)?.[1]);
  const item = ownString(ownList(spec, 'replicatedJobs')?.[index], 'name');
  const network = own(spec, 'network');
  if (item === undefined || own(network, 'enableDNSHostnames') === false) return undefined;
  return { hostname: `${name}-${item}-0-0`, subdomain: ownString(network, 'subdomain') ?? name };
}
