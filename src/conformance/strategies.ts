import type { Json } from '../json/json.ts';
import { strategyQuestion, type AssignReplicaPlugin } from '../fleet/assign/assign-replica-plugin.ts';
import { checksOf, textsOf, type ConformanceCheck } from './check.ts';
import { strategyRules, type StrategySubject } from './strategy-rules.ts';

/** How long (ms) Muster waits for the answer of a plugin. */
const DEADLINE_MS = 2_000;

/**
 * The contract of a plugin with strategies as checks, for any test runner; `configure()` has to be called before. An endless
 * loop of the plugin stops the process: `muster conformance` runs the checks in a thread, and passes on `hung`.
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
    // A deep copy, since a plugin in its own process cannot change Muster's objects either.
    const given = JSON.parse(JSON.stringify(strategyQuestion(strategy, clusters, binding))) as ReturnType<
      typeof strategyQuestion
    >;
    const answer = await plugin.assignReplica(given.strategy, given.clusters, given.spec, given.status);
    return JSON.parse(JSON.stringify(answer ?? null)) as Json;
  },
});
