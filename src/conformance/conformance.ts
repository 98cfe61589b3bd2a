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
 * The contract of a backend as checks, for any test runner. Nothing is written anywhere, and no cluster is needed;
 * `settings.cluster`, a real or a fake one, lets `init` find something. An endless loop of the backend stops the process:
 * `muster conformance` runs the checks in a thread, and passes on `hung`.
 */
export const conformanceChecks = (
  factory: BackendFactory,
  settings: ConformanceSettings = {},
  hung: readonly string[] = [],
): readonly ConformanceCheck[] => checksOf(RULES, new Subject(factory, settings), hung);

export { strategyChecks, strategyRuleTexts } from './strategies.ts';
