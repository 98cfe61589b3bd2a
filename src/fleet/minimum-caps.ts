import type { JsonObject } from '../json/json.ts';
import { templatesOf } from '../workloads/components.ts';
import { path } from '../workloads/path.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';
import { WorkloadReading } from '../workloads/workload-reading.ts';
import type { Edit } from './object-edits.ts';

/** Lowers minimums to the number of Pods: with a higher minimum nothing would ever start, and most kinds reject it. */
export function minimumCaps(object: JsonObject, kind: WorkloadKind): Edit[] {
  const reading = new WorkloadReading(object);
  const templates = templatesOf(object, kind, reading);
  const edits = templates.flatMap(({ replicas, minAvailable, minimum }): Edit[] =>
    minimum !== undefined && minAvailable !== undefined && minAvailable > replicas
      ? [{ path: minimum.path, value: minimum.per === 0 ? 0 : Math.floor(replicas / minimum.per) }]
      : [],
  );
  if (kind.totalMinimum === undefined) return edits;
  const total = templates.reduce((sum, { replicas }) => sum + replicas, 0);
  const least = path(kind.totalMinimum);
  return reading.count(least, 0) > total ? [...edits, { path: least, value: total }] : edits;
}
