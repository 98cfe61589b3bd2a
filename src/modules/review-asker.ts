import type { Json } from '../json/json.ts';
import { printable } from '../text/printable.ts';
import { messageOf, TryLater } from '../errors.ts';
import type { ModuleOperation } from './wire.ts';
import type { ModuleSupervisor } from './supervisor.ts';
import { ModuleThrew } from './module-process.ts';
import { rethrown } from './pod-edits.ts';

/** Reviews that may wait for one module at a time: a part of the server's limit, so that other reviews are answered. */
const MOST_WAITING = 32;

/** Asks a module on behalf of reviews, with limits on the waiting time and on the number of waiting reviews. */
export class ReviewAsker {
  readonly #supervisor: Pick<ModuleSupervisor<unknown>, 'current' | 'title'>;
  readonly #answerMs: number;
  #waiting = 0;

  constructor(supervisor: Pick<ModuleSupervisor<unknown>, 'current' | 'title'>, answerMs: number) {
    this.#supervisor = supervisor;
    this.#answerMs = answerMs;
  }

  /**
   * Asks the module.
   * @returns a function that returns the answer, or throws the error that the module threw
   * @throws TryLater where the module does not answer
   */
  async ask(operation: ModuleOperation, given: unknown, withinMs: number): Promise<() => Json> {
    const { current, title } = this.#supervisor;
    if (typeof current === 'string') throw notNow(current);
    if (this.#waiting >= MOST_WAITING) throw notNow(`${title} has ${MOST_WAITING} reviews to answer already`);
    this.#waiting += 1;
    try {
      const said = await current.call(operation, given, { withinMs: Math.min(withinMs, this.#answerMs) });
      return () => said;
    } catch (thrown) {
      if (!(thrown instanceof ModuleThrew)) throw notNow(`${title}: ${messageOf(thrown)}`);
      return () => {
        throw rethrown(thrown.field, thrown.message);
      };
    } finally {
      this.#waiting -= 1;
    }
  }
}

const notNow = (reason: string): TryLater => new TryLater('not-ready', printable(reason, 512));
