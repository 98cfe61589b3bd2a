import { own, ownObject, ownString, type JsonObject } from '../json/json.ts';
import { itemsAt, textAt } from './listed-templates.ts';
import { path } from './path.ts';
import { jobPods } from './plain.ts';
import type { OneByOne, Template, WorkloadKind } from './workload-kind.ts';
import type { WorkloadReading } from './workload-reading.ts';

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

/** How many Pods of a replicated job are to succeed: those of each of its Jobs. */
export function jobSetCompletions(name: string, reading: WorkloadReading): number {
  const jobs = itemsAt(reading, path('spec.replicatedJobs'));
  return jobs
    .filter(({ at }) => textAt(reading, [...at, 'name']) === name)
    .reduce((sum, { at }) => {
      const job = [...at, 'template', 'spec'];
      const each = reading.count([...job, 'completions'], reading.count([...job, 'parallelism'], 1));
      return sum + reading.times(at, reading.count([...at, 'replicas'], 1), each);
    }, 0);
}

const afterLeader = (object: JsonObject): OneByOne | undefined =>
  ownString(own(object, 'spec'), 'startupPolicy') === 'LeaderReady'
    ? { field: 'spec.startupPolicy', instead: 'LeaderCreated' }
    : undefined;

/** Of each group one leader and `size - 1` workers; without a template of its own the leader has the workers'. */
function leaderAndWorkers(object: JsonObject, reading: WorkloadReading): Template[] {
  const group = path('spec.leaderWorkerTemplate');
  const set = own(own(object, 'spec'), 'leaderWorkerTemplate');
  const count = path('spec.replicas');
  const groups = reading.count(count, 1);
  const workers = Math.max(reading.count([...group, 'size'], 1) - 1, 0);
  const ofLeader = ownObject(set, 'leaderTemplate') === undefined ? 'workerTemplate' : 'leaderTemplate';
  const part = (name: string, key: string, each: number): Template => ({
    name,
    template: ownObject(set, key),
    path: [...group, key],
    replicas: reading.times(count, groups, each),
    minAvailable: undefined,
    count: { path: count, per: each },
  });
  if (workers === 0) return [part('leader', ofLeader, 1)];
  const worker = { ...part('worker', 'workerTemplate', workers), oneByOne: afterLeader(object) };
  return [part('leader', ofLeader, 1), worker];
}

export const jobSetKinds: readonly WorkloadKind[] = [
  {
    group: 'jobset.x-k8s.io',
    version: 'v1alpha2',
    kind: 'JobSet',
    templates: replicatedJobs,
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
  {
    group: 'leaderworkerset.x-k8s.io',
    version: 'v1',
    kind: 'LeaderWorkerSet',
    templates: leaderAndWorkers,
    health: {
      phases: [],
      conditions: [],
      ready: [{ has: 'status.readyReplicas', wants: 'spec.replicas', otherwise: 1 }],
    },
    status: { sums: ['replicas', 'readyReplicas', 'updatedReplicas'], phases: [] },
    kept: { always: [], filled: [], templates: [] },
    says: { components: '`leader`, `worker`: those of all groups', minimum: 'all' },
  },
];
