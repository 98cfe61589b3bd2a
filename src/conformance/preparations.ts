import type { PreparerFactory } from '../preparers/preparer-factory.ts';
import { checksOf, textsOf, type ConformanceCheck } from './check.ts';
import { preparationGangRules } from './preparation-gang-rules.ts';
import { preparationPodRules } from './preparation-pod-rules.ts';
import { PreparationSubject, type PreparationSettings } from './preparation-subject.ts';

export type { PreparationSettings };

const RULES = [...preparationPodRules, ...preparationGangRules];

/** Name and text of every rule of a preparation, in their order. */
export const preparationRules = textsOf(RULES);

/** The contract of a preparation as checks. No cluster is needed, and nothing is written. */
export const preparationChecks = (
  preparation: PreparerFactory,
  settings: PreparationSettings,
  hung: readonly string[] = [],
): readonly ConformanceCheck[] => checksOf(RULES, new PreparationSubject(preparation, settings), hung);
