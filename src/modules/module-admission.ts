import { own, type JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Backend } from '../backends/backend.ts';
import type { Hosted, HostedListener } from '../backends/hosted.ts';
import type { Membership } from '../gang/membership.ts';
import { readsLargeLists } from '../preparers/pod-part.ts';
import { NO_FINDINGS } from '../preparers/preparer.ts';
import { encodeGang, encodePod } from './callbacks.ts';
import { decodeVerdict, decodeWarnings, type ModuleBackendFacts } from './decode.ts';
import type { ModuleSupervisor } from './supervisor.ts';
import { replay } from './pod-edits.ts';
import { ReviewAsker } from './review-asker.ts';

/** A module's part in admission. */
export class ModuleAdmission implements Hosted {
  readonly #backend: Backend;
  readonly #supervisor: ModuleSupervisor<ModuleBackendFacts>;
  readonly #asker: ReviewAsker;

  constructor(backend: Backend, supervisor: ModuleSupervisor<ModuleBackendFacts>, answerMs: number) {
    this.#backend = backend;
    this.#supervisor = supervisor;
    this.#asker = new ReviewAsker(supervisor, answerMs);
  }

  get schedulerName(): string | undefined {
    return this.#supervisor.facts?.schedulerName;
  }

  get readsLargeLists(): boolean {
    const { facts } = this.#supervisor;
    return facts !== undefined && readsLargeLists(facts);
  }

  get warnsOfUpdates(): boolean {
    return this.#supervisor.facts?.has.includes('warnOfUpdate') === true;
  }

  subscribe(listener: HostedListener): void {
    this.#supervisor.tell(listener);
  }

  stop(): void {
    void this.#supervisor.stop();
  }

  async ofPod(pod: JsonObject, gang: Membership, withinMs: number): Promise<Backend> {
    const said = await this.#asker.ask(
      'preparePod',
      { pod: encodePod(pod, this.readsLargeLists), gang },
      withinMs,
    );
    const asked = { who: `backend ${this.#backend.name}`, method: 'preparePod' } as const;
    return this.#saying({ preparePod: (_pod, _gang, patch) => replay(asked, said(), patch) as void });
  }

  async ofGang(gang: PodGang, before: PodGang | undefined, withinMs: number): Promise<Backend> {
    const given = { gang: encodeGang(gang), ...(before && { before: encodeGang(before) }), check: true };
    const said = await this.#asker.ask('checkGang', given, withinMs);
    return this.#saying({
      validatePodGang: () => decodeVerdict(own(said(), 'verdict')),
      warnOfUpdate: () => decodeWarnings(own(said(), 'warnings')),
    });
  }

  async ofChange(before: PodGang, after: PodGang, withinMs: number): Promise<Backend> {
    const given = { gang: encodeGang(after), before: encodeGang(before), check: false };
    const warnings = await this.#asker
      .ask('checkGang', given, withinMs)
      .then((said) => decodeWarnings(own(said(), 'warnings')))
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
