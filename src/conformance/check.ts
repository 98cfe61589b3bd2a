import { messageOf } from '../errors.ts';

/** What a check came to, where it found nothing wrong. `note` is worth reading all the same. */
export type ConformanceOutcome =
  | { readonly state: 'passed'; readonly note?: string }
  /** Nothing can be said, as the check of this name has failed. */
  | { readonly state: 'skipped'; readonly needs: string };

/** One rule of the contract. Checks may be run in any order, each once or more often: each works once. */
export interface ConformanceCheck {
  /** Of the rule, such as `prepare-pure`. */
  readonly name: string;
  /** The rule, one sentence. */
  readonly rule: string;
  /** @throws ConformanceFailure with the reason, where the rule is broken */
  readonly run: () => Promise<ConformanceOutcome>;
}

/** A rule is broken; the message says how. */
export class ConformanceFailure extends Error {
  override readonly name = 'ConformanceFailure';
}

export const broken = (reason: string): ConformanceFailure => new ConformanceFailure(reason);

/** A check before it is known what is checked. */
export interface ConformanceRule<Subject> {
  readonly name: string;
  readonly rule: string;
  /** Names of rules without which this one says nothing. */
  readonly needs?: readonly string[];
  /** @returns what is worth telling though nothing is wrong */
  readonly look: (subject: Subject) => Promise<string | undefined> | string | undefined;
}

/** Name and text of every rule, in their order. */
export const textsOf = (rules: RuleTexts): RuleTexts => rules.map(({ name, rule }) => ({ name, rule }));

export type RuleTexts = readonly Pick<ConformanceCheck, 'name' | 'rule'>[];

/**
 * The rules as checks of one subject. A check whose `needs` fail is skipped, so that one defect fails one check.
 * @param hung names of checks that did not come to an end elsewhere: they are not run again, and count as failed
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
