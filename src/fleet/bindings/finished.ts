import { own, ownList, ownString, type Json } from '../../json/json.ts';

/** By which condition a workload tells that it has run to its end. */
const CONDITIONS = ['Complete', 'Completed', 'Succeeded', 'Failed', 'Finished'];
/** The same as a phase, in the words of any of the kinds. */
const PHASES = [
  'completed',
  'succeeded',
  'failed',
  'finished',
  'terminated',
  'aborted',
  'complete',
  'canceled',
];

/**
 * Whether a workload has come to its end in every cluster that it was sent to: then what it had is free, though its
 * binding stays until somebody deletes the workload.
 * @param statuses `status.aggregatedStatus` of its binding
 */
export const hasFinished = (statuses: readonly Json[], clusters: number): boolean =>
  clusters > 0 && statuses.length >= clusters && statuses.every((one) => isOver(own(one, 'status')));

function isOver(status: Json | undefined): boolean {
  const conditions = ownList(status, 'conditions') ?? [];
  const said = conditions.some(
    (one) => ownString(one, 'status') === 'True' && CONDITIONS.includes(ownString(one, 'type') ?? ''),
  );
  const phases = [
    own(status, 'phase'),
    own(status, 'jobStatus'),
    own(own(status, 'jobStatus'), 'state'),
    own(status, 'terminalState'),
    own(own(status, 'state'), 'phase'),
  ];
  return said || phases.some((phase) => typeof phase === 'string' && PHASES.includes(phase.toLowerCase()));
}
