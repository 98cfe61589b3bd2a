import type { ContractRange } from '../api/contract-range.ts';
import type { JsonObject } from '../json/json.ts';
import { PREPARATION_CONTRACT_RANGE, type ManagerSettings } from '../preparers/preparation-module.ts';
import type {
  HostedPreparer,
  HpcGang,
  HpcPolicy,
  ObjectsGiven,
  PreparerFactory,
  PodToPrepare,
} from '../preparers/preparer-factory.ts';
import { NO_FINDINGS, type PodGangVerdict, type Preparer } from '../preparers/preparer.ts';
import { Restarter } from './restarter.ts';
import { decodeVerdict } from './decode.ts';
import { decodeObjects, decodePreparationFacts, type PreparationFacts } from './decode-preparation.ts';
import { MODULE_LIMITS, type ModuleLimits } from './process-limits.ts';
import type { ObjectsRequest, PrepareRequest, EncodedHpcGang, ValidateRequest } from './wire.ts';
import { supervisedEntry, ModuleSupervisor, type ModuleEntry, type ModuleObserver } from './supervisor.ts';
import { readModule } from './module-file.ts';
import { replay } from './pod-edits.ts';
import { ReviewAsker } from './review-asker.ts';

/** Answers of a module; reading one throws the error that the module threw. */
interface Answers {
  readonly verdict?: () => PodGangVerdict;
  readonly preparer?: Preparer;
  readonly objects?: () => readonly JsonObject[];
}

/** A third party's preparation in a process of its own, which is restarted after a back-off when it has ended. */
export class ModulePreparation implements PreparerFactory {
  readonly name: string;
  readonly hosted: HostedPreparer;
  readonly #supervisor: ModuleSupervisor<PreparationFacts>;
  readonly #asker: ReviewAsker;

  constructor(
    entry: ModuleEntry,
    observer: ModuleObserver,
    limits: ModuleLimits = MODULE_LIMITS,
    range: ContractRange = PREPARATION_CONTRACT_RANGE,
  ) {
    this.name = entry.name;
    const kept = { operation: 'loadPreparation', range, factsOf: decodePreparationFacts } as const;
    this.#supervisor = new ModuleSupervisor(supervisedEntry('preparation', entry, kept), observer, limits);
    this.#asker = new ReviewAsker(this.#supervisor, limits.answerMs);
    const handlers: (() => void)[] = [];
    const changed = (): void => {
      for (const handler of handlers) handler();
    };
    this.#supervisor.tell({ ended: changed, said: () => undefined });
    const restarter = new Restarter(this.#supervisor, changed);
    this.begin = async () => {
      await restarter.begin();
      restarter.restartWhenEnded();
    };
    const supervisor = this.#supervisor;
    this.hosted = {
      get waits() {
        return typeof supervisor.current === 'string' ? supervisor.current : undefined;
      },
      ofPolicy: (policy, withinMs) => this.#ofPolicy(policy, withinMs),
      ofPod: (pod, asked, withinMs) => this.#ofPod(pod, asked, withinMs),
      ofGang: (gang, policy, given, withinMs) => this.#ofGang(gang, policy, given, withinMs),
      onChange: (handler) => void handlers.push(handler),
      stop: () => void restarter.stop(),
    };
  }

  /**
   * Starts the process, and restarts it whenever it has ended; {@link HostedPreparer.waits} is the reason why it does not
   * run.
   */
  readonly begin: () => Promise<void>;

  preparer(_gang: HpcGang, policy: HpcPolicy): undefined {
    this.#notAsked(policy);
  }

  validate(_gang: HpcGang, policy: HpcPolicy): PodGangVerdict {
    this.#notAsked(policy);
    return NO_FINDINGS;
  }

  objects(_gang: HpcGang, policy: HpcPolicy): readonly JsonObject[] {
    this.#notAsked(policy);
    return [];
  }

  #notAsked({ managed }: HpcPolicy): void {
    if (managed?.manager === this.name) throw new Error(`preparation ${this.name} has to be asked first`);
  }

  async #ofPolicy(policy: HpcPolicy, withinMs: number): Promise<PreparerFactory> {
    return this.#saying({ verdict: await this.#judged({ settings: settingsOf(policy) }, withinMs) });
  }

  async #ofPod(
    { metadata, spec }: JsonObject,
    { gang, group, policy }: PodToPrepare,
    withinMs: number,
  ): Promise<PreparerFactory> {
    const pod = { metadata, spec } as JsonObject;
    const given: PrepareRequest = { pod, gang: encodeHpcGang(gang), group, settings: settingsOf(policy) };
    const said = await this.#asker.ask('prepareMember', given, withinMs);
    const asked = { who: this.#supervisor.title, method: 'prepare' } as const;
    return this.#saying({
      preparer: {
        name: this.name,
        patchSurface: this.#supervisor.facts?.patchSurface ?? {},
        prepare: (_pod, _member, patch) => replay(asked, said(), patch) as void,
      },
    });
  }

  async #ofGang(
    gang: HpcGang,
    policy: HpcPolicy,
    given: ObjectsGiven | undefined,
    withinMs: number,
  ): Promise<PreparerFactory> {
    const [about, settings] = [encodeHpcGang(gang), settingsOf(policy)];
    const verdict = await this.#judged({ settings, gang: about }, withinMs);
    if (given === undefined) return this.#saying({ verdict });
    const { certificate, subdomain } = given;
    const asked: ObjectsRequest = { gang: about, settings, certificate: certificate(gang.name), subdomain };
    const said = await this.#asker.ask('makeObjects', asked, withinMs);
    return this.#saying({ verdict, objects: () => decodeObjects(said(), gang) });
  }

  async #judged(given: ValidateRequest, withinMs: number): Promise<() => PodGangVerdict> {
    const said = await this.#asker.ask('validatePolicy', given, withinMs);
    return () => decodeVerdict(said());
  }

  /** A preparer that returns these answers; it is used only for the request that they answer. */
  #saying({ verdict, preparer, objects }: Answers): PreparerFactory {
    const says = verdict ?? ((): PodGangVerdict => NO_FINDINGS);
    return {
      name: this.name,
      judge: says,
      preparer: () => preparer,
      validate: says,
      objects: () => objects?.() ?? [],
    };
  }
}

const settingsOf = ({ managed }: HpcPolicy): ManagerSettings => managed?.settings ?? {};

const encodeHpcGang = ({ namespace, name, annotations, spec }: HpcGang): EncodedHpcGang => ({
  namespace,
  name,
  annotations: [...annotations],
  spec,
});

/**
 * The preparations that a configuration names, each in a process of its own. A faulty file is a configuration error, and
 * thrown; a module that does not load prevents no other from starting.
 * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY
 */
export async function hostedPreparations(
  entries: readonly ModuleEntry[],
  observer: ModuleObserver,
  limits: ModuleLimits = MODULE_LIMITS,
): Promise<readonly ModulePreparation[]> {
  for (const { source } of entries) await readModule(source);
  const all = entries.map((entry) => new ModulePreparation(entry, observer, limits));
  await Promise.all(all.map((one) => one.begin()));
  return all;
}
