import { messageOf } from '../errors.ts';

/** The outcome of a check that found no fault; a `note` is worth reading all the same. */
export type ConformanceOutcome =
  | { readonly state: 'passed'; readonly note?: string }
  /** The check could not run, since the check named in `needs` failed. */
  | { readonly state: 'skipped'; readonly needs: string };

/** One rule of the contract. Checks are independent: they may run in any order, and more than once. */
export interface ConformanceCheck {
  /** Name of the rule, such as `prepare-pure`. */
  readonly name: string;
  /** The rule, one sentence. */
  readonly rule: string;
  /** Runs the check. @throws ConformanceFailure with the reason, where the rule is broken */
  readonly run: () => Promise<ConformanceOutcome>;
}

/** A broken rule; the message says how it is broken. */
export class ConformanceFailure extends Error {
  override readonly name = 'ConformanceFailure';
}

export const broken = (reason: string): ConformanceFailure => new ConformanceFailure(reason);

/** A rule, independent of the subject that it is checked on. */
export interface ConformanceRule<Subject> {
  readonly name: string;
  readonly rule: string;
  /** Names of rules that have to hold for this one to be checked. */
  readonly needs?: readonly string[];
  /** Checks the subject. @returns a note about a subject without fault */
  readonly look: (subject: Subject) => Promise<string | undefined> | string | undefined;
}

/** Name and text of every rule, in their order. */
export const textsOf = (rules: RuleTexts): RuleTexts => rules.map(({ name, rule }) => ({ name, rule }));

export type RuleTexts = readonly Pick<ConformanceCheck, 'name' | 'rule'>[];

/**
 * The rules as checks of one subject. A check is skipped where one of its `needs` fails, so that one defect fails one check.
 * @param hung names of checks that did not end in an earlier thread: they count as failed and do not run again
 */
export function checksOf<Subject>(
  rules: readonly ConformanceRule<Subject>[],
  subject: Subject,
  hung: readonly string[] = [],
): ConformanceCheck[] {
  const byName = new Map<string, () => Promise<ConformanceOutcome>>();
  const worked = async ({
    name,
    needs = [],
    look,
  }: ConformanceRule<Subject>): Promise<ConformanceOutcome> => {
    if (hung.includes(name)) throw broken('it does not come to an end');
    for (const need of needs) {
      const outcome = await byName
        .get(need)?.()
        .catch(() => undefined);
      if (outcome === undefined) return { state: 'skipped', needs: need };
      if (outcome.state === 'skipped') return outcome;
    }
    try {
      const note = await look(subject);
      return note === undefined ? { state: 'passed' } : { state: 'passed', note };
    } catch (thrown) {
      if (thrown instanceof ConformanceFailure) throw thrown;
      throw new ConformanceFailure(`threw ${messageOf(thrown)}`, { cause: thrown });
    }
  };
  return rules.map((one) => {
    let running: Promise<ConformanceOutcome> | undefined;
    const run = (): Promise<ConformanceOutcome> => (running ??= worked(one));
    byName.set(one.name, run);
    return { name: one.name, rule: one.rule, run };
  });
}
