import { deprecation } from '../api/contract-range.ts';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { printable } from '../text/printable.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Resource } from '../k8s/resource.ts';
import {
  BACKEND_CONTRACT_VERSION,
  CONTRACT_RANGE,
  type BackendSettings,
  type PatchSurface,
} from '../backends/backend.ts';
import type { BackendFacts, ClusterSyncContext, InitContext, SyncContext } from '../backends/cluster.ts';
import { checkContract, checkedFacts } from '../backends/contract.ts';
import { HOSTED, type HostedBackend } from '../backends/hosted.ts';
import { RELEASE_ORDERS, type ReleaseOrder } from '../gang/records.ts';
import type { PodGangVerdict } from '../preparers/preparer.ts';
import type { Declared } from './declared.ts';
import { clusterHands, gangHands, gangSaid, ownedSaid, probeHands } from './hands.ts';
import { factsOf, resourceOf, type ModuleFacts } from './heard.ts';
import { checkName } from './import-module.ts';
import { ModuleAdmission } from './module-admission.ts';
import { MODULE_LIMITS, type ModuleLimits } from './limits.ts';
import type { ModuleSource } from './module-file.ts';
import { ModuleKeeper, type Kept, type ModuleObserver } from './module-keeper.ts';
import { Recent } from './recent.ts';

/** Gangs whose answers are remembered. */
const MOST_GANGS = 20_000;

/** One profile of the configuration that brings its backend along. */
export interface ModuleProfile {
  readonly name: string;
  readonly source: ModuleSource;
  readonly settings: BackendSettings;
}

const keptOf = ({ name, source, settings }: ModuleProfile): Kept<ModuleFacts> => ({
  what: 'backend',
  name,
  source,
  operation: 'load',
  given: { settings },
  factsOf: (said) => {
    const facts = factsOf(said);
    checkName('backend', facts.name, name, source);
    checkContract(name, facts, CONTRACT_RANGE);
    return facts;
  },
});

interface GangAnswers {
  readonly order: ReleaseOrder;
  readonly follows: boolean;
  readonly references: boolean;
  readonly ending: boolean;
}

/**
 * A backend of somebody else's, as the others see it: what it does is done in a process of its own, which `init` starts
 * where there is none. What has to be said at once is what was said last.
 */
export class ModuleBackend implements HostedBackend {
  // The version that the module itself is written for is held to the range when it loads.
  readonly contractVersion = BACKEND_CONTRACT_VERSION;
  readonly name: string;
  readonly [HOSTED]: ModuleAdmission;
  readonly #keeper: ModuleKeeper<ModuleFacts>;
  #owns: readonly Resource[] = [];
  readonly #answers = new Recent<GangAnswers>(MOST_GANGS);
  readonly #explained = new Recent<{ readonly of: string; readonly text: string | undefined }>(MOST_GANGS);
  /** There where the module has it. */
  syncCluster?: (context: ClusterSyncContext) => Promise<void>;

  constructor(profile: ModuleProfile, observer: ModuleObserver, limits: ModuleLimits = MODULE_LIMITS) {
    this.name = profile.name;
    this.#keeper = new ModuleKeeper(keptOf(profile), observer, limits);
    this[HOSTED] = new ModuleAdmission(this, this.#keeper, limits.answerMs);
  }

  /** `''` until it is known. */
  get schedulerName(): string {
    return this.#keeper.facts?.schedulerName ?? '';
  }

  get patchSurface(): PatchSurface {
    return this.#keeper.facts?.patchSurface ?? {};
  }

  get cleansUp(): boolean {
    return this.#keeper.facts?.cleansUp === true;
  }

  async init({ cluster, signal }: InitContext): Promise<BackendFacts> {
    const process = await this.#keeper.begun();
    const hands = probeHands(cluster, this.#declared);
    const said = await process
      .call('init', { cluster: cluster !== undefined }, { signal, hands })
      .finally(() => this.#keeper.looked());
    const facts = checkedFacts(own(said, 'facts'));
    this.#owns = (ownList(said, 'owns') ?? []).map(resourceOf);
    if (this.#has('syncCluster')) this.syncCluster = (context) => this.#syncCluster(context);
    else delete this.syncCluster;
    const { facts: known } = this.#keeper;
    const old = known && deprecation('backend', known, CONTRACT_RANGE);
    const notices = [...(facts.notices ?? []), ...(old === undefined ? [] : [old])];
    return {
      version: printable(facts.version, 128),
      notices: notices.map((notice) => printable(notice, 512)),
    };
  }

  preparePod(): void {
    throw new Error(`backend ${this.name} has to be asked first`);
  }

  validatePodGang(): PodGangVerdict {
    throw new Error(`backend ${this.name} has to be asked first`);
  }

  owns(): readonly Resource[] {
    return this.#owns;
  }

  async syncPodGang(context: SyncContext, gang: PodGang): Promise<void> {
    const given = this.#givenOf(context, gang);
    const { signal } = context;
    const said = await this.#keeper.running.call('syncPodGang', given, {
      signal,
      hands: gangHands(context, this.#declared),
    });
    const order = RELEASE_ORDERS.find((one) => one === own(said, 'order')) ?? 'all-at-once';
    const says = (field: string): boolean => own(said, field) === true;
    const [follows, references, ending] = [says('follows'), says('references'), says('ending')];
    this.#answers.set(keyOf(gang), { order, follows, references, ending });
  }

  async onPodGangDelete(context: SyncContext, gang: PodGang): Promise<void> {
    const given = this.#givenOf(context, gang);
    const { signal } = context;
    await this.#keeper.running.call('onPodGangDelete', given, {
      signal,
      hands: gangHands(context, this.#declared),
    });
    this.#answers.delete(keyOf(gang));
  }

  /** As it said when the gang was synced, before which none is let go; where that is forgotten, the careful order. */
  releaseOrder(gang: PodGang): ReleaseOrder {
    return (
      this.#answers.get(keyOf(gang))?.order ?? (this.#has('releaseOrder') ? 'minimum-first' : 'all-at-once')
    );
  }

  followsBinding(gang: PodGang): boolean {
    return this.#answers.get(keyOf(gang))?.follows ?? false;
  }

  followsReferences(gang: PodGang): boolean {
    return this.#answers.get(keyOf(gang))?.references ?? this.#has('followsReferences');
  }

  /** As it said then; where that is forgotten, the careful answer. */
  countsEnding(gang: PodGang): boolean {
    return this.#answers.get(keyOf(gang))?.ending ?? this.#has('countsEnding');
  }

  /** What was said last of the gang's objects; where they are others now it is asked, and the gang looked at again. */
  explain(objects: readonly JsonObject[]): string | undefined {
    const [first] = objects;
    const gang = first && gangIn(first);
    if (gang === undefined || !this.#has('explain')) return undefined;
    const of = objects.map(versionOf).join(' ');
    const known = this.#explained.get(gang);
    if (known?.of !== of) {
      this.#explained.set(gang, { of, text: known?.text });
      void this.#explainAnew(gang, of, objects, known?.text);
    }
    return known?.text;
  }

  async #explainAnew(
    gang: string,
    of: string,
    objects: readonly JsonObject[],
    before: string | undefined,
  ): Promise<void> {
    const { current } = this.#keeper;
    const said =
      typeof current === 'string' ? null : await current.call('explain', objects).catch(() => null);
    const text = typeof said === 'string' ? printable(said, 1_024) : undefined;
    if (this.#explained.get(gang)?.of !== of) return;
    this.#explained.set(gang, { of, text });
    if (text !== before) this.#keeper.said(gang);
  }

  async #syncCluster(context: ClusterSyncContext): Promise<void> {
    const { signal } = context;
    await this.#keeper.running.call('syncCluster', null, {
      signal,
      hands: clusterHands(context, this.#declared),
    });
  }

  get #declared(): Declared {
    return { rights: this.#keeper.facts?.rights ?? [], owns: this.#owns };
  }

  #givenOf(context: SyncContext, gang: PodGang): unknown {
    return { gang: gangSaid(gang), pods: context.pods, owned: ownedSaid(context, this.#owns) };
  }

  #has(operation: string): boolean {
    return this.#keeper.facts?.has.includes(operation) === true;
  }
}

const keyOf = ({ namespace, name }: PodGang): string => `${namespace}/${name}`;

const versionOf = (object: JsonObject): string => {
  const metadata = ownObject(object, 'metadata');
  return `${ownString(metadata, 'uid') ?? ''}@${ownString(metadata, 'resourceVersion') ?? ''}`;
};

/** The gang that controls an object. */
function gangIn(object: JsonObject): string | undefined {
  const metadata = ownObject(object, 'metadata');
  const owner = (ownList(metadata, 'ownerReferences') ?? []).find(
    (one: Json) => own(one, 'controller') === true,
  );
  const [namespace, name] = [ownString(metadata, 'namespace'), ownString(owner, 'name')];
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
}
