/** What a pure decision needs to read before it can be made. */
export class Needs<N> {
  readonly needs: N;

  constructor(needs: N) {
    this.needs = needs;
  }
}

/** The result of a pure decision: the decision, or what has to be read first. */
export type MayNeed<T, N> = T | Needs<N>;

/** The functions by which a decision that needs something is made. */
export interface NeedsAnswered<T, N, K> {
  /** Decides by what is known. Called again after each answer, since what is known may have changed meanwhile. */
  readonly decide: (known: K) => MayNeed<T, N>;
  /** Reads what is needed, and returns all that is known then. */
  readonly answer: (needs: N, known: K) => Promise<K>;
  /** What is known before the first decision. */
  readonly known: K;
  /** The most answers that are waited for. */
  readonly rounds: number;
  /** Called where the decision still needs something after the last round; may throw. */
  readonly exhausted: (needs: N) => T;
}

/**
 * Decides, reads what the decision needs, and decides again until it needs nothing. Every pure decision that waits does so
 * here: in admission, in a fleet and for a preview.
 * @param first the first decision, where the caller has made it already
 */
export async function decideWithNeeds<T, N, K>(
  { decide, answer, known, rounds, exhausted }: NeedsAnswered<T, N, K>,
  first: MayNeed<T, N> = decide(known),
): Promise<T> {
  let decision = first;
  let all = known;
  for (let round = 0; decision instanceof Needs; round += 1) {
    if (round === rounds) return exhausted(decision.needs);
    all = await answer(decision.needs, all);
    decision = decide(all);
  }
  return decision;
}
