import { keyed } from '../api/fault.ts';
import { own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import { hasLabel } from './asking-workload.ts';
import { placeOf, valueAt, type Path } from './path.ts';
import { jobPods } from './plain.ts';
import { WorkloadReading } from './workload-reading.ts';

// pkg/controllers/pod_controller.go of kubernetes-sigs/lws makes the set of the workers once the leader has a node. Its
// annotation for subgroups gives Pods affinities and keeps none back.
const OF_LEADER_WORKER_SET = 'leaderworkerset.sigs.k8s.io/exclusive-topology';
// pkg/webhooks/pod_webhook.go of kubernetes-sigs/jobset refuses the Pods of a Job until the one with index 0 has a node;
// not where somebody labels nodes beforehand and says so by the second.
const OF_JOB_SET = 'alpha.jobset.sigs.k8s.io/exclusive-topology';
const NODES_ARE_LABELLED = 'alpha.jobset.sigs.k8s.io/node-selector';

/** An annotation by which a controller keeps Pods back until another of the same gang has a node. */
export interface ExclusiveTopology {
  readonly field: string;
  readonly value: string;
}

/** @param short of the kind of the workload; a workload of any other has none */
export function exclusiveTopologyOf(short: string, workload: JsonObject): ExclusiveTopology[] {
  if (short === 'lws') return ofLeaderWorkerSet(workload);
  return short === 'jobset' ? ofJobSet(workload) : [];
}

function ofLeaderWorkerSet(workload: JsonObject): ExclusiveTopology[] {
  const set = own(own(workload, 'spec'), 'leaderWorkerTemplate');
  return hasLabel(own(set, 'leaderTemplate') ?? own(set, 'workerTemplate'))
    ? annotated(workload, [], OF_LEADER_WORKER_SET)
    : [];
}

/** The annotation counts on the JobSet, on the template of a replicated job, and on that of its Pods. */
function ofJobSet(workload: JsonObject): ExclusiveTopology[] {
  const reading = new WorkloadReading(workload);
  const jobs = ownList(own(workload, 'spec'), 'replicatedJobs') ?? [];
  const found = jobs.flatMap((_, index) => {
    const job: Path = ['spec', 'replicatedJobs', index, 'template'];
    const pods = [...job, 'spec', 'template'];
    if (!hasLabel(valueAt(workload, pods)) || jobPods(reading, [...job, 'spec']) < 2) return [];
    const places = [[], job, pods];
    if (places.some((at) => annotated(workload, at, NODES_ARE_LABELLED).length > 0)) return [];
    return places.flatMap((at) => annotated(workload, at, OF_JOB_SET));
  });
  return [...new Map(found.map((one) => [one.field, one])).values()];
}

function annotated(workload: JsonObject, at: Path, key: string): ExclusiveTopology[] {
  const annotations: Json | undefined = own(own(valueAt(workload, at), 'metadata'), 'annotations');
  const value = ownString(annotations, key);
  return value === undefined
    ? []
    : [{ field: keyed(placeOf([...at, 'metadata', 'annotations']), key), value }];
}
