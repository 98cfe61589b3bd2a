import { isGated } from '../../gang/plan/census.ts';
import type { Waiting } from '../../gang/plan/gang-plan.ts';
import type { PodRecord } from '../../gang/records.ts';

/** One Pod of a gang as `muster status` tells of it. */
export interface PodStatus {
  readonly name: string;
  readonly group: string;
  readonly node: string;
  readonly state: Waiting['state'] | 'running' | 'succeeded' | 'failed' | 'terminating';
  /** What it waits for; '' where there is nothing to say. */
  readonly reason: string;
}

export function podStatus(pod: PodRecord, waiting: Waiting | undefined): PodStatus {
  const { name, group, nodeName: node, phase } = pod;
  const told = { name, group, node };
  if (pod.deletionTimestamp !== undefined) return { ...told, state: 'terminating', reason: '' };
  if (phase === 'Failed') return { ...told, state: 'failed', reason: '' };
  if (waiting !== undefined) return { ...told, state: waiting.state, reason: waiting.reason };
  return { ...told, state: unjudged(pod), reason: '' };
}

/** Of a Pod that nobody waits for: what can be seen of it. */
function unjudged(pod: PodRecord): PodStatus['state'] {
  if (pod.phase === 'Succeeded') return 'succeeded';
  if (isGated(pod)) return 'gated';
  if (pod.gates.length > 0) return 'foreign';
  if (pod.nodeName === '') return 'pending';
  return pod.ready ? 'running' : 'starting';
}
