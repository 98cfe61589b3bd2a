import type { Estimators } from '../../estimators/estimators.ts';
import type { Estimates } from '../../fleet/assign/candidate.ts';
import { estimatesOf, roomQuestions } from '../../fleet/assign/estimates.ts';
import { roomIn } from '../../fleet/assign/room-in.ts';
import type { Strategies } from '../../fleet/assign/strategies.ts';
import type { BindingRecord } from './binding-record.ts';
import type { Members } from './members.ts';
import { dueOf } from './verdict.ts';

export interface Estimated {
  readonly found: Estimates;
  /** Clusters that were asked for in vain. */
  readonly without: readonly string[];
}

/** Asks estimators for a binding that is to be judged. */
export type AskEstimates = (record: BindingRecord, signal: AbortSignal) => Promise<Estimated>;

export const NO_ESTIMATES: Estimated = { found: new Map(), without: [] };

/**
 * What is in flight to a cluster is taken off its answer as it is once the answer is here: two bindings that ask at the same
 * time do not get the same room.
 */
export const askEstimates =
  (members: Members, strategies: Strategies, estimators: Pick<Estimators, 'ask'>): AskEstimates =>
  async (record, signal) => {
    const { binding, faults, namespace } = record;
    const plugin = strategies.pluginOf(binding.strategy);
    if (plugin === undefined || faults.length > 0) return NO_ESTIMATES;
    if (dueOf(record, members, strategies) === undefined) return NO_ESTIMATES;
    const questions = roomQuestions(binding, members.all(), plugin);
    const answers = await estimators.ask(questions, namespace, signal);
    const found = estimatesOf(questions, answers, (cluster) => {
      const [reported, counted] = members.inFlight(cluster);
      if (reported === undefined || counted === undefined || reported === counted)
        return { room: 0, some: false };
      return { room: roomIn(binding, reported, plugin) - roomIn(binding, counted, plugin), some: true };
    });
    const without = questions.flatMap(({ cluster }, index) =>
      answers[index] === undefined ? [cluster] : [],
    );
    return { found, without: [...new Set(without)] };
  };
