import type { BackendFactory, ConformanceSettings } from '../backends/backend.ts';
import { checksOf, textsOf, type ConformanceCheck } from './check.ts';
import { gangRules } from './gang-rules.ts';
import { identityRules } from './identity-rules.ts';
import { prepareRules } from './prepare-rules.ts';
import { conformancePriorityRules } from './priority-rules.ts';
import { Subject } from './subject.ts';
import { syncRules } from './sync-rules.ts';
import { troubleRules } from './trouble-rules.ts';

export { ConformanceFailure, type ConformanceCheck, type ConformanceOutcome } from './check.ts';
export type { ConformanceSettings } from '../backends/backend.ts';

const RULES = [
  ...identityRules,
  ...prepareRules,
  ...gangRules,
  ...syncRules,
  ...conformancePriorityRules,
  ...troubleRules,
];

/** Name and text of every rule, in their order. */
export const conformanceRules = textsOf(RULES);

/**
 * What a backend has to keep to, as checks to be run one by one, in any test runner. Nothing is written anywhere, and no
 * cluster is needed; `settings.cluster` may be one, real or made up, for `init` to find something. A loop that never ends
 * stops the process that runs it: `muster conformance` runs these in a thread of their own, and passes on what `hung`.
 */
export const conformanceChecks = (
  factory: BackendFactory,
  settings: ConformanceSettings = {},
  hung: readonly string[] = [],
): readonly ConformanceCheck[] => checksOf(RULES, new Subject(factory, settings), hung);

export { strategyChecks, strategyRuleTexts } from './strategies.ts';
