import { own, type JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Backend } from '../backends/backend.ts';
import type { Hosted, HostedListener } from '../backends/hosted.ts';
import type { Membership } from '../gang/membership.ts';
import { readsLargeLists } from '../preparers/pod-part.ts';
import { NO_FINDINGS } from '../preparers/preparer.ts';
import { gangSaid, podSaid } from './hands.ts';
import { verdictOf, warningsIn, type ModuleFacts } from './heard.ts';
import type { ModuleKeeper } from './module-keeper.ts';
import { replay } from './replay.ts';
import { ReviewAsker } from './review-asker.ts';

/** A module's part in admission. */
export class ModuleAdmission implements Hosted {
  readonly #backend: Backend;
  readonly #keeper: ModuleKeeper<ModuleFacts>;
  readonly #asker: ReviewAsker;

  constructor(backend: Backend, keeper: ModuleKeeper<ModuleFacts>, answerMs: number) {
    this.#backend = backend;
    this.#keeper = keeper;
    this.#asker = new ReviewAsker(keeper, answerMs);
  }

  get schedulerName(): string | undefined {
    return this.#keeper.facts?.schedulerName;
  }

  get readsLargeLists(): boolean {
    const { facts } = this.#keeper;
    return facts !== undefined && readsLargeLists(facts);
  }

  get warnsOfUpdates(): boolean {
    return this.#keeper.facts?.has.includes('warnOfUpdate') === true;
  }

  subscribe(listener: HostedListener): void {
    this.#keeper.tell(listener);
  }

  stop(): void {
    this.#keeper.stop();
  }

  async ofPod(pod: JsonObject, gang: Membership, withinMs: number): Promise<Backend> {
    const said = await this.#asker.ask(
      'preparePod',
      { pod: podSaid(pod, this.readsLargeLists), gang },
      withinMs,
    );
    const asked = { who: `backend ${this.#backend.name}`, method: 'preparePod' } as const;
    return this.#saying({ preparePod: (_pod, _gang, patch) => replay(asked, said(), patch) as void });
  }

  async ofGang(gang: PodGang, before: PodGang | undefined, withinMs: number): Promise<Backend> {
    const given = { gang: gangSaid(gang), ...(before && { before: gangSaid(before) }), check: true };
    const said = await this.#asker.ask('checkGang', given, withinMs);
    return this.#saying({
      validatePodGang: () => verdictOf(own(said(), 'verdict')),
      warnOfUpdate: () => warningsIn(own(said(), 'warnings')),
    });
  }

  async ofChange(before: PodGang, after: PodGang, withinMs: number): Promise<Backend> {
    const given = { gang: gangSaid(after), before: gangSaid(before), check: false };
    const warnings = await this.#asker
      .ask('checkGang', given, withinMs)
      .then((said) => warningsIn(own(said(), 'warnings')))
      .catch(() => []);
    return this.#saying({ warnOfUpdate: () => warnings });
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
      validatePodGang: () => NO_FINDINGS,
      ...says,
    };
  }
}

const notHere = (): Promise<never> => Promise.reject(new Error('an answer does nothing'));
