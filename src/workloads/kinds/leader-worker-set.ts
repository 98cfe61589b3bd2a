import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { hasLabel } from '../gang-label.ts';
import type { Kind } from '../kind.ts';
import { orderedByTopology } from '../ordered-start.ts';
import { path } from '../path.ts';
import type { OneByOne, Template } from '../workload-kind.ts';
import type { WorkloadReading } from '../workload-reading.ts';

// https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/. A leader's name is <set>-<group>, a
// worker's <set>-<group>-<index>. pkg/webhooks/pod_webhook.go of kubernetes-sigs/lws sets the group of a leader.
const LWS = 'leaderworkerset.sigs.k8s.io/name';
const LWS_GROUP = 'leaderworkerset.sigs.k8s.io/group-index';
// With this annotation, pkg/controllers/pod_controller.go of kubernetes-sigs/lws creates the workers' StatefulSet only once
// the leader has a node. The annotation for subgroups only sets affinities and delays no Pods.
const EXCLUSIVE_TOPOLOGY = 'leaderworkerset.sigs.k8s.io/exclusive-topology';

export const leaderWorkerSet: Kind = {
  ...{
    group: 'leaderworkerset.x-k8s.io',
    version: 'v1',
    kind: 'LeaderWorkerSet',
    plural: 'leaderworkersets',
  },
  templates: leaderAndWorkers,
  hostOf: (workload, at) => {
    const name = ownString(own(workload, 'metadata'), 'name');
    return { hostname: at.endsWith('leaderTemplate') ? `${name}-0` : `${name}-0-1`, subdomain: name };
  },
  gang: {
    short: 'lws',
    controllers: ['apps/StatefulSet'],
    marked: LWS,
    read: (pod, { name: set }) => {
      const name = pod.label(LWS) ?? '';
      const part = pod.label(LWS_GROUP);
      // A webhook of LeaderWorkerSet derives the group from the leader's name.
      if (part === undefined) return set === name ? { late: LWS_GROUP } : { differs: LWS };
      if (set === `${name}-${part}`) return { name, part, group: 'worker' };
      const isLeader = set === name && (pod.name ?? '') === `${name}-${part}`;
      return isLeader ? { name, part, group: 'leader' } : { differs: LWS };
    },
    mark: (name, group, part = '0') => {
      const set = group === 'leader' ? name : `${name}-${part}`;
      return {
        labels: { [LWS]: name, [LWS_GROUP]: part },
        controller: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: set },
        name: group === 'leader' ? `${name}-${part}` : `${name}-${part}-1`,
      };
    },
    hosts: (name, { name: group, replicas }, part = '0') =>
      group === 'leader'
        ? [{ prefix: `${name}-`, from: Number(part), count: 1 }]
        : [{ prefix: `${name}-${part}-`, from: 1, count: replicas }],
    gangs: (reading) => reading.countOf('spec.replicas', 1),
    pods: (group, _, reading) =>
      group === 'leader' ? 1 : Math.max(reading.countOf('spec.leaderWorkerTemplate.size', 1) - 1, 0),
    orderedStart: (workload) => {
      const set = own(own(workload, 'spec'), 'leaderWorkerTemplate');
      return hasLabel(own(set, 'leaderTemplate') ?? own(set, 'workerTemplate'))
        ? orderedByTopology(workload, [], EXCLUSIVE_TOPOLOGY)
        : [];
    },
    // All Pods of a group are replaced together.
    replaces: () => 'together',
  },
  fleet: {
    lua: `
local function computed(obj, _, found)
  local number, group = { "spec", "replicas" }, { "spec", "leaderWorkerTemplate" }
  local groups = count(obj, number, 1)
  local workers = math.max(count(obj, joined(group, { "size" }), 1) - 1, 0)
  local ofWorker = object(at(obj, joined(group, { "workerTemplate" })))
  local ofLeader = object(at(obj, joined(group, { "leaderTemplate" }))) or ofWorker
  found[#found + 1] = { name = "leader", template = ofLeader, replicas = groups, count = number, per = 1 }
  if workers == 0 then return end
  found[#found + 1] = {
    name = "worker",
    template = ofWorker,
    replicas = product(number, groups * workers),
    count = number,
    per = workers,
  }
end
`,
    health: {
      phases: [],
      conditions: [],
      ready: [{ has: 'status.readyReplicas', wants: 'spec.replicas', otherwise: 1 }],
    },
    status: { sums: ['replicas', 'readyReplicas', 'updatedReplicas'], phases: [] },
    kept: { always: [], filled: [], templates: [] },
    says: { components: '`leader`, `worker`: those of all groups', minimum: 'all' },
  },
};

const afterLeader = (object: JsonObject): OneByOne | undefined =>
  ownString(own(object, 'spec'), 'startupPolicy') === 'LeaderReady'
    ? { field: 'spec.startupPolicy', instead: 'LeaderCreated' }
    : undefined;

/** One leader and `size - 1` workers for each group. Without a leader template the workers' template is used. */
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
