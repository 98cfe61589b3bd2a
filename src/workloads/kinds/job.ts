import { own, ownString } from '../../json/json.ts';
import { JOB_PODS_LUA, jobPods, jobWarnings } from '../job-pods.ts';
import type { Kind } from '../kind.ts';
import { namedBy } from '../gang-label.ts';
import { path } from '../path.ts';
import { MAIN, SINGLE_SAYS, singleTemplate } from '../single-template.ts';
import type { WorkloadReading } from '../workload-reading.ts';

// https://kubernetes.io/docs/reference/labels-annotations-taints/#batchkubernetesio-job-name
const JOB_NAME = 'batch.kubernetes.io/job-name';

export const job: Kind = {
  ...{ group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs' },
  single: (object, reading) => singleTemplate(object, 'spec.parallelism', jobPods(reading, ['spec'])),
  hostOf: (workload) => {
    const isIndexed = ownString(own(workload, 'spec'), 'completionMode') === 'Indexed';
    return isIndexed ? { hostname: `${ownString(own(workload, 'metadata'), 'name')}-0` } : undefined;
  },
  gang: {
    short: 'job',
    controllers: ['batch/Job'],
    read: namedBy(JOB_NAME, () => MAIN),
    mark: (name) => ({
      labels: { [JOB_NAME]: name },
      controller: { apiVersion: 'batch/v1', kind: 'Job', name },
    }),
    hosts: (name, { replicas }) => [{ prefix: `${name}-`, from: 0, count: replicas }],
    left: (told, reading) => {
      const completions = reading.countOf('spec.completions', undefined);
      if (completions === undefined) return told;
      const done = reading.countOf('status.succeeded', 0) + failedIndexes(reading);
      return Math.min(told, Math.max(completions - done, 0));
    },
    // The template of a Job with Pods is immutable.
    replaces: () => 'together',
    warnings: (workload) => jobWarnings(own(workload, 'spec'), 'spec'),
  },
  fleet: {
    lua: `${JOB_PODS_LUA}
local function computed(obj, _, found)
  local template = object(at(obj, { "spec", "template" }))
  local name = text(at(template, { "metadata", "name" }))
  if name == "" then name = "main" end
  found[#found + 1] = {
    name = name,
    template = template,
    replicas = jobPods(obj, { "spec" }),
    count = { "spec", "parallelism" },
  }
end
`,
    health: { phases: [], conditions: ['Failed'] },
    status: { sums: ['active', 'ready', 'succeeded', 'failed', 'terminating'], phases: [] },
    kept: { always: ['spec.suspend'], filled: ['spec.selector'], templates: ['spec.template'] },
    says: SINGLE_SAYS,
  },
};

/** Number of failed indexes of a Job with `backoffLimitPerIndex`: `1,3-5` are four. */
function failedIndexes(reading: WorkloadReading): number {
  const told = reading.at(path('status.failedIndexes'));
  if (typeof told !== 'string') return 0;
  return [...told.matchAll(/(\d+)(?:-(\d+))?/g)].reduce(
    (sum, [, first = '', last = first]) => sum + Math.max(Number(last) - Number(first) + 1, 0),
    0,
  );
}
