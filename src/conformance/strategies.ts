import type { Json } from '../json/json.ts';
import { strategyQuestion, type AssignReplicaPlugin } from '../fleet/assign/assign-replica-plugin.ts';
import { checksOf, textsOf, type ConformanceCheck } from './check.ts';
import { strategyRules, type StrategySubject } from './strategy-rules.ts';

/** How long (ms) Muster waits for the answer of a plugin. */
const DEADLINE_MS = 2_000;

/**
 * What a plugin with strategies has to keep to, as checks to be run one by one, in any test runner; its `configure()` has
 * been called. As for backends, `muster conformance` runs them in a thread of their own, and passes on what `hung`.
 */
export const strategyChecks = (
  plugin: AssignReplicaPlugin,
  hung: readonly string[] = [],
): readonly ConformanceCheck[] => strategyChecksOf(subjectOf(plugin), hung);

export const strategyChecksOf = (
  subject: StrategySubject,
  hung: readonly string[] = [],
): readonly ConformanceCheck[] => checksOf(strategyRules, subject, hung);

/** Name and text of every rule, in their order. */
export const strategyRuleTexts = textsOf(strategyRules);

const subjectOf = (plugin: AssignReplicaPlugin): StrategySubject => ({
  name: plugin.name,
  strategies: () => plugin.strategies(),
  deadlineMs: DEADLINE_MS,
  ask: async (strategy, { binding, clusters }) => {
    // A copy of its own, as a process of its own would have it.
    const given = JSON.parse(JSON.stringify(strategyQuestion(strategy, clusters, binding))) as ReturnType<
      typeof strategyQuestion
    >;
    const answer = await plugin.assignReplica(given.strategy, given.clusters, given.spec, given.status);
    return JSON.parse(JSON.stringify(answer ?? null)) as Json;
  },
});
