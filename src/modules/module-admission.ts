import { own, type Json, type JsonObject } from '../api/json.ts';
import { printable } from '../api/printable.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Backend } from '../backends/backend.ts';
import type { Hosted, HostedListener } from '../backends/hosted.ts';
import { messageOf, TryLater } from '../errors.ts';
import type { Membership } from '../gang/membership.ts';
import { looksAtAll } from '../preparers/pod-part.ts';
import type { PodGangVerdict } from '../preparers/preparer.ts';
import { gangSaid, podSaid } from './hands.ts';
import { verdictOf, warningsIn, type ModuleFacts } from './heard.ts';
import type { Operation } from './messages.ts';
import type { ModuleKeeper } from './module-keeper.ts';
import { ModuleThrew } from './module-process.ts';
import { asThrown, replay } from './replay.ts';

/** So many reviews may wait: of those that the server takes at a time, most are kept for others. */
const MOST_WAITING = 32;

const SILENT: PodGangVerdict = { faults: [], warnings: [] };

/** A module's part in admission. */
export class ModuleAdmission implements Hosted {
  readonly #backend: Backend;
  readonly #keeper: ModuleKeeper<ModuleFacts>;
  readonly #answerMs: number;
  #waiting = 0;

  constructor(backend: Backend, keeper: ModuleKeeper<ModuleFacts>, answerMs: number) {
    this.#backend = backend;
    this.#answerMs = answerMs;
    this.#keeper = keeper;
  }

  get schedulerName(): string | undefined {
    return this.#keeper.facts?.schedulerName;
  }

  get looksAtAll(): boolean {
    const { facts } = this.#keeper;
    return facts !== undefined && looksAtAll(facts);
  }

  get hearsChanges(): boolean {
    return this.#keeper.facts?.has.includes('warnOfUpdate') === true;
  }

  tell(listener: HostedListener): void {
    this.#keeper.tell(listener);
  }

  stop(): void {
    this.#keeper.stop();
  }

  async ofPod(pod: JsonObject, gang: Membership, withinMs: number): Promise<Backend> {
    const said = await this.#ask('preparePod', { pod: podSaid(pod, this.looksAtAll), gang }, withinMs);
    const { name } = this.#backend;
    return this.#saying({ preparePod: (_pod, _gang, patch) => replay(name, said(), patch) as void });
  }

  async ofGang(gang: PodGang, before: PodGang | undefined, withinMs: number): Promise<Backend> {
    const given = { gang: gangSaid(gang), ...(before && { before: gangSaid(before) }), check: true };
    const said = await this.#ask('checkGang', given, withinMs);
    return this.#saying({
      validatePodGang: () => verdictOf(own(said(), 'verdict')),
      warnOfUpdate: () => warningsIn(own(said(), 'warnings')),
    });
  }

  async ofChange(before: PodGang, after: PodGang, withinMs: number): Promise<Backend> {
    const given = { gang: gangSaid(after), before: gangSaid(before), check: false };
    const warnings = await this.#ask('checkGang', given, withinMs)
      .then((said) => warningsIn(own(said(), 'warnings')))
      .catch(() => []);
    return this.#saying({ warnOfUpdate: () => warnings });
  }

  /**
   * What the module says; read it to have thrown what the module threw.
   * @throws TryLater where it says nothing
   */
  async #ask(operation: Operation, given: unknown, withinMs: number): Promise<() => Json> {
    const { current } = this.#keeper;
    if (typeof current === 'string') throw notNow(current);
    if (this.#waiting >= MOST_WAITING) {
      throw notNow(`backend ${this.#keeper.name} has ${MOST_WAITING} reviews to answer already`);
    }
    this.#waiting += 1;
    try {
      const said = await current.call(operation, given, { withinMs: Math.min(withinMs, this.#answerMs) });
      return () => said;
    } catch (thrown) {
      if (!(thrown instanceof ModuleThrew))
        throw notNow(`backend ${this.#keeper.name}: ${messageOf(thrown)}`);
      return () => {
        throw asThrown(thrown.field, thrown.message);
      };
    } finally {
      this.#waiting -= 1;
    }
  }

  #saying(says: Partial<Pick<Backend, 'preparePod' | 'validatePodGang' | 'warnOfUpdate'>>): Backend {
    const { contractVersion, name, schedulerName, patchSurface } = this.#backend;
    return {
      contractVersion,
      name,
      schedulerName,
      patchSurface,
      init: notHere,
      syncPodGang: notHere,
      onPodGangDelete: notHere,
      preparePod: () => undefined,
      validatePodGang: () => SILENT,
      ...says,
    };
  }
}

const notNow = (reason: string): TryLater => new TryLater('not-ready', printable(reason, 512));

const notHere = (): Promise<never> => Promise.reject(new Error('an answer does nothing'));
