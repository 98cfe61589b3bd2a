import type { ClusterWatch } from './cluster-watch.ts';
import { forecast } from './forecast.ts';
import type { Asked, PreviewSetting } from './question.ts';
import { Rehearsal } from './rehearsal.ts';

type Setting = Pick<PreviewSetting, 'names' | 'exemptNamespaces'>;

/** Answers questions one at a time from what the watches have read. */
export class Forecaster {
  readonly #watch: Pick<ClusterWatch, 'missing' | 'now'>;
  readonly #setting: Setting;
  readonly #rehearsal = new Rehearsal();
  readonly #now: () => number;

  /** @param now returns milliseconds since 1970 */
  constructor(watch: Pick<ClusterWatch, 'missing' | 'now'>, setting: Setting, now: () => number = Date.now) {
    this.#watch = watch;
    this.#setting = setting;
    this.#now = now;
  }

  /** Returns the warnings; none where there is nothing to report, or the question's time has passed. */
  answer(question: Asked): readonly string[] {
    const now = this.#now();
    const tried = this.#rehearsal.add(question, now);
    if (tried === undefined || now >= question.until) return [];
    const { missing } = this.#watch;
    if (missing !== undefined) return [`forecast: none yet: ${missing}`];
    return forecast({
      question,
      tried,
      setting: this.#setting,
      now: (more, gangKey) => this.#watch.now(more, gangKey),
    });
  }
}
