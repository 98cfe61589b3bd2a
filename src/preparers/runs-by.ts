import { GATE_POD_GANG_PENDING } from '../api/names.ts';
import type { PodRecord } from '../gang/records.ts';

type Prepared = Pick<PodRecord, 'prepared' | 'gates' | 'deletionTimestamp' | 'phase'>;

/** The mark by which a Pod was prepared that has been let go and has not ended; undefined for any other. */
export const runningMark = ({ prepared, gates, deletionTimestamp, phase }: Prepared): string | undefined =>
  deletionTimestamp !== undefined ||
  phase === 'Succeeded' ||
  phase === 'Failed' ||
  gates.includes(GATE_POD_GANG_PENDING)
    ? undefined
    : prepared;
