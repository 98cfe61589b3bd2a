import type { Json } from '../json/json.ts';
import { printable } from '../text/printable.ts';
import { messageOf, TryLater } from '../errors.ts';
import type { ModuleOperation } from './wire.ts';
import type { ModuleSupervisor } from './supervisor.ts';
import { ModuleThrew } from './module-process.ts';
import { rethrown } from './pod-edits.ts';

/** So many reviews may wait: of those that the server takes at a time, most are kept for others. */
const MOST_WAITING = 32;

/** Asks a module on behalf of reviews, which wait for it, though not for long and not many at a time. */
export class ReviewAsker {
  readonly #supervisor: Pick<ModuleSupervisor<unknown>, 'current' | 'title'>;
  readonly #answerMs: number;
  #waiting = 0;

  constructor(supervisor: Pick<ModuleSupervisor<unknown>, 'current' | 'title'>, answerMs: number) {
    this.#supervisor = supervisor;
    this.#answerMs = answerMs;
  }

  /**
   * What the module says; read it to have thrown what the module threw.
   * @throws TryLater where it says nothing
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
