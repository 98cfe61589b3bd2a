import type { JsonObject } from '../../json/json.ts';
import type { PodRecord } from '../../gang/records.ts';
import { readPodRecord } from '../../gang/read-records.ts';
import type { GangKind } from '../../workloads/gang-kind.ts';
import { storedOriginOf } from '../../workloads/pod-origin.ts';

/** A Pod as it came from the API server, with the workload by which it is of its gang. */
export const readMember = (pod: JsonObject, kinds?: readonly GangKind[]): PodRecord => ({
  ...readPodRecord(pod),
  origin: storedOriginOf(pod, kinds),
});
