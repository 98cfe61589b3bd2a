import type { PodGang } from '../../api/pod-gang.ts';
import { asksForTopology } from '../../gang/rules/check-topology.ts';
import { checkTotalMinimum } from '../../gang/rules/check-spec.ts';
import type { PodGangVerdict } from '../backend.ts';
import { checkMinResources } from '../min-resources.ts';
import { unheardTerms, type Preempts } from '../preemption-terms.ts';
import type { CoschedulingConfig } from './config.ts';

export const COSCHEDULING_PREEMPTS: Preempts = {
  scheduler: 'coscheduling',
  always: { mode: 'Pod', says: 'its scheduler preempts Pods one by one' },
};

/**
 * What one flat count cannot hold, and what is lost on the way into it. That a gang has a minimum at all, and a name
 * that is a label value, is asked of every gang.
 */
export function validateForCoscheduling(gang: PodGang, config: CoschedulingConfig): PodGangVerdict {
  const { groups, reuseReservationRef } = gang.spec;
  const warnings: string[] = [];
  if (groups.length > 1) {
    warnings.push(
      'coscheduling counts all Pods of the gang as one: the minimum of each group holds because its Pods are let go first and the others once those are bound, not in the scheduler',
    );
  }
  if (asksForTopology(gang)) warnings.push('coscheduling ignores topology constraints');
  if (reuseReservationRef) warnings.push('coscheduling ignores spec.reuseReservationRef');
  const resources = checkMinResources(gang, { name: 'coscheduling', reads: config.minResources });
  return {
    faults: [...checkTotalMinimum(gang), ...resources.faults],
    warnings: [...warnings, ...resources.warnings, ...unheardTerms(gang, COSCHEDULING_PREEMPTS)],
  };
}
