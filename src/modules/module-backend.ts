import { deprecation } from '../api/contract-range.ts';
import { own, ownList, type JsonObject } from '../json/json.ts';
import { printable } from '../text/printable.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Resource } from '../k8s/resource.ts';
import {
  BACKEND_CONTRACT_VERSION,
  CONTRACT_RANGE,
  type BackendSettings,
  type PatchSurface,
  type BackendFactory,
} from '../backends/backend.ts';
import type { BackendFacts, ClusterSyncContext, InitContext, SyncContext } from '../backends/cluster.ts';
import { checkContract, checkedFacts } from '../backends/contract.ts';
import { HOSTED, type HostedBackend } from '../backends/hosted.ts';
import { RELEASE_ORDERS, type ReleaseOrder } from '../gang/records.ts';
import type { PodGangVerdict } from '../preparers/preparer.ts';
import {
  clusterCallbacks,
  gangCallbacks,
  encodeGang,
  encodeOwned,
  probeCallbacks,
  type DeclaredAccess,
} from './callbacks.ts';
import { decodeBackendFacts, decodeResource, type ModuleBackendFacts } from './decode.ts';
import { checkName } from './import-module.ts';
import { ModuleAdmission } from './module-admission.ts';
import { MODULE_LIMITS, type ModuleLimits } from './process-limits.ts';
import { readModule, type ModuleSource } from './module-file.ts';
import { ModuleSupervisor, type SupervisedModule, type ModuleObserver } from './supervisor.ts';
import { Explanations, LruCache, MOST_GANGS } from './gang-answers.ts';

/** A profile of the configuration that names a module. */
export interface ModuleProfile {
  readonly name: string;
  readonly source: ModuleSource;
  readonly settings: BackendSettings;
}

const supervisedBackend = ({
  name,
  source,
  settings,
}: ModuleProfile): SupervisedModule<ModuleBackendFacts> => ({
  what: 'backend',
  name,
  source,
  operation: 'load',
  given: { settings },
  factsOf: (said) => {
    const facts = decodeBackendFacts(said);
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
 * A third party's backend with the interface of a built-in one: its operations run in a process of their own, which `init`
 * starts. Synchronous operations return the last answer of that process.
 */
export class ModuleBackend implements HostedBackend {
  // The contract version of the module itself is checked when the module loads.
  readonly contractVersion = BACKEND_CONTRACT_VERSION;
  readonly name: string;
  readonly [HOSTED]: ModuleAdmission;
  readonly #supervisor: ModuleSupervisor<ModuleBackendFacts>;
  #owns: readonly Resource[] = [];
  readonly #answers = new LruCache<GangAnswers>(MOST_GANGS);
  readonly #explanations: Explanations;
  /** Set where the module has the operation. */
  syncCluster?: (context: ClusterSyncContext) => Promise<void>;

  constructor(profile: ModuleProfile, observer: ModuleObserver, limits: ModuleLimits = MODULE_LIMITS) {
    this.name = profile.name;
    this.#supervisor = new ModuleSupervisor(supervisedBackend(profile), observer, limits);
    this.#explanations = new Explanations(this.#supervisor);
    this[HOSTED] = new ModuleAdmission(this, this.#supervisor, limits.answerMs);
  }

  /** `''` until the module is loaded. */
  get schedulerName(): string {
    return this.#supervisor.facts?.schedulerName ?? '';
  }

  get patchSurface(): PatchSurface {
    return this.#supervisor.facts?.patchSurface ?? {};
  }

  get cleansUp(): boolean {
    return this.#supervisor.facts?.cleansUp === true;
  }

  async init({ cluster, signal }: InitContext): Promise<BackendFacts> {
    const process = await this.#supervisor.begun();
    const callbacks = probeCallbacks(cluster, this.#declared);
    const said = await process
      .call('init', { cluster: cluster !== undefined }, { signal, callbacks })
      .finally(() => this.#supervisor.initialized());
    const facts = checkedFacts(own(said, 'facts'));
    this.#owns = (ownList(said, 'owns') ?? []).map(decodeResource);
    if (this.#has('syncCluster')) this.syncCluster = (context) => this.#syncCluster(context);
    else delete this.syncCluster;
    const { facts: known } = this.#supervisor;
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
    const said = await this.#supervisor.running.call('syncPodGang', given, {
      signal,
      callbacks: gangCallbacks(context, this.#declared),
    });
    const order = RELEASE_ORDERS.find((one) => one === own(said, 'order')) ?? 'all-at-once';
    const says = (field: string): boolean => own(said, field) === true;
    const [follows, references, ending] = [says('follows'), says('references'), says('ending')];
    this.#answers.set(keyOf(gang), { order, follows, references, ending });
  }

  async onPodGangDelete(context: SyncContext, gang: PodGang): Promise<void> {
    const given = this.#givenOf(context, gang);
    const { signal } = context;
    await this.#supervisor.running.call('onPodGangDelete', given, {
      signal,
      callbacks: gangCallbacks(context, this.#declared),
    });
    this.#answers.delete(keyOf(gang));
  }

  /** The answer of the gang's last sync, before which no Pod is released. Where it has been dropped: `minimum-first`. */
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

  /** The answer of the gang's last sync. Where it has been dropped: true, if the module has the operation. */
  countsEnding(gang: PodGang): boolean {
    return this.#answers.get(keyOf(gang))?.ending ?? this.#has('countsEnding');
  }

  /**
   * The last explanation of the gang's objects; once these have changed, the module is asked again and the gang reconciled.
   */
  explain(objects: readonly JsonObject[]): string | undefined {
    return this.#has('explain') ? this.#explanations.of(objects) : undefined;
  }

  async #syncCluster(context: ClusterSyncContext): Promise<void> {
    const { signal } = context;
    await this.#supervisor.running.call('syncCluster', null, {
      signal,
      callbacks: clusterCallbacks(context, this.#declared),
    });
  }

  get #declared(): DeclaredAccess {
    return { rights: this.#supervisor.facts?.rights ?? [], owns: this.#owns };
  }

  #givenOf(context: SyncContext, gang: PodGang): unknown {
    return { gang: encodeGang(gang), pods: context.pods, owned: encodeOwned(context, this.#owns) };
  }

  #has(operation: string): boolean {
    return this.#supervisor.facts?.has.includes(operation) === true;
  }
}

const keyOf = ({ namespace, name }: PodGang): string => `${namespace}/${name}`;

/**
 * The backends of modules, each with a process of its own. A faulty file is a configuration error, and thrown. No code of a
 * module runs before its `init`, and a failed `init` prevents no other backend from starting.
 * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY
 */
export async function hostedModules(
  modules: readonly (ModuleSource & { readonly name: string })[],
  observer: ModuleObserver,
): Promise<readonly BackendFactory[]> {
  for (const source of modules) await readModule(source);
  return modules.map((source) => ({
    name: source.name,
    create: (settings) => new ModuleBackend({ name: source.name, source, settings }, observer),
  }));
}
