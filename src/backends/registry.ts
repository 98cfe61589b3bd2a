import { deprecation, type ContractRange } from '../api/contract-range.ts';
import type { JsonObject } from '../json/json.ts';
import type { Resource } from '../k8s/resource.ts';
import { messageOf, MusterError } from '../errors.ts';
import { NO_TOPOLOGY, type TopologyLevels } from '../gang/rules/check-topology.ts';
import { CONTRACT_RANGE, type Backend, type BackendFactory } from './backend.ts';
import { NOT_ASKED, type BackendFacts, type InitContext, type Readiness } from './cluster.ts';
import { hostedIn, type Hosted } from './hosted.ts';
import { brokenContract, checkedFacts, checkedKinds, createBackend } from './contract.ts';
import { coscheduling } from './coscheduling/backend.ts';
import { kai } from './kai/backend.ts';
import { native } from './native/backend.ts';
import { volcano } from './volcano/backend.ts';
import { ObservedInit } from './observed-init.ts';

/** The backends that come with Muster. A further one is a folder here and a line in this list. */
export const builtInBackends: readonly BackendFactory[] = [native, kai, volcano, coscheduling];

/** Every name a configuration may use, aliases last: for error texts and completion. */
export function supportedSchedulers(factories: readonly BackendFactory[] = builtInBackends): {
  names: readonly string[];
  aliases: Readonly<Record<string, string>>;
} {
  return {
    names: factories.map((factory) => factory.name),
    aliases: Object.assign({}, ...factories.map((factory) => factory.aliases ?? {})) as Record<
      string,
      string
    >,
  };
}

/** Those for whose gangs Muster may make room: for the configuration. */
export const withoutGangPreemption = (
  factories: readonly BackendFactory[] = builtInBackends,
): readonly string[] =>
  factories.filter(({ leavesPreemption }) => leavesPreemption === true).map(({ name }) => name);

/** One enabled backend, found by one of its names. */
export interface Resolved {
  readonly backend: Backend;
  /** Set where a former name was used: what to tell the user. */
  readonly notice: string | undefined;
  /** Set where it runs outside of this process: what it says at admission has to be asked for. */
  readonly hosted?: Hosted | undefined;
}

interface HostedEntry {
  readonly name: string;
  readonly hosted: Hosted;
}

/** A profile of the configuration: which backend, and what it is told. */
export interface BackendProfile {
  readonly name: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface RegistryOptions {
  readonly factories?: readonly BackendFactory[];
  /** `topologyAwareScheduling` of the configuration; absent: not enabled. */
  readonly topology?: TopologyLevels;
  /** Versions of the contract that are served. */
  readonly contract?: ContractRange;
}

/** The enabled backends. Built once at start; only what is known of their readiness changes. */
export class BackendRegistry {
  readonly default: Backend;
  readonly #byName = new Map<string, Resolved>();
  readonly #enabled: readonly string[];
  readonly #hosted: readonly HostedEntry[];
  readonly #readiness = new Map<string, Readiness>();
  /** Backends that looked at a cluster which answered, or need none. */
  readonly #seen = new Set<string>();
  readonly #owned = new Map<string, readonly Resource[]>();
  /** What is still accepted and will not be for ever, a sentence each: shown at start. */
  readonly notices: readonly string[];

  /**
   * @param profiles what the configuration enables, each with its own `config`
   * @throws MusterError BACKEND_UNSUPPORTED, BACKEND_CONTRACT, and BACKEND_INIT_FAILED with the backend's own reason
   */
  constructor(
    profiles: readonly BackendProfile[],
    defaultProfileName: string,
    { factories = builtInBackends, topology = NO_TOPOLOGY, contract = CONTRACT_RANGE }: RegistryOptions = {},
  ) {
    const known = new Map<string, BackendFactory>();
    for (const factory of factories) {
      for (const name of [factory.name, ...Object.keys(factory.aliases ?? {})]) {
        if (known.has(name)) {
          throw brokenContract(
            `backend "${name}" is registered twice`,
            'give each backend a name of its own',
          );
        }
        known.set(name, factory);
      }
    }
    const notices: string[] = [];
    for (const { name, config = {} } of profiles) {
      const factory = known.get(name);
      if (factory === undefined) throw unsupported(name, factories);
      if (this.#byName.has(factory.name)) continue;
      // What came from a file is JSON, whatever its type says.
      const backend = createBackend(factory, { config: config as JsonObject, topology }, contract);
      const old = deprecation('backend', backend, contract);
      if (old !== undefined) notices.push(old);
      const hosted = hostedIn(backend);
      this.#byName.set(factory.name, { backend, notice: undefined, hosted });
      for (const [alias, now] of Object.entries(factory.aliases ?? {})) {
        const notice = `scheduler name "${alias}" is deprecated: use "${now}"`;
        this.#byName.set(alias, { backend, notice, hosted });
      }
    }
    // A scheduler whose name differs from its backend's is known by both, so that a prepared Pod finds its way back.
    for (const resolved of [...this.#byName.values()]) this.#knowScheduler(resolved);
    this.#enabled = [...new Set([...this.#byName.values()].map(({ backend }) => backend.name))];
    this.#hosted = this.backends.flatMap((backend) => {
      const hosted = hostedIn(backend);
      return hosted === undefined ? [] : { name: backend.name, hosted };
    });
    this.notices = notices;
    const fallback = this.#byName.get(defaultProfileName);
    if (fallback === undefined) {
      throw known.has(defaultProfileName)
        ? notEnabled(defaultProfileName, this.#enabled)
        : unsupported(defaultProfileName, factories);
    }
    this.default = fallback.backend;
  }

  #knowScheduler({ backend, hosted }: Resolved): void {
    const { schedulerName } = backend;
    if (schedulerName === '' || this.#byName.has(schedulerName)) return;
    this.#byName.set(schedulerName, { backend, notice: undefined, hosted });
  }

  /** Names of the enabled backends, in the order of the configuration. */
  get enabled(): readonly string[] {
    return this.#enabled;
  }

  /** The enabled backends, in the order of the configuration. */
  get backends(): readonly Backend[] {
    return this.#enabled.flatMap((name) => this.#byName.get(name)?.backend ?? []);
  }

  /** An enabled backend by its name, a former name, or its scheduler's name. Unknown names never fall back. */
  resolve(name: string): Resolved | undefined {
    return this.#byName.get(name);
  }

  /** An enabled backend that runs elsewhere and has not yet said which scheduler it is for; undefined: there is none. */
  get untold(): string | undefined {
    return this.#hosted.find(({ hosted }) => hosted.schedulerName === undefined)?.name;
  }

  /** The enabled backends that run outside of this process. */
  get hosted(): readonly HostedEntry[] {
    return this.#hosted;
  }

  /** What the last `init` of an enabled backend came to. */
  readiness(name: string): Readiness {
    return this.#readiness.get(name) ?? NOT_ASKED;
  }

  /**
   * Why nothing can be said yet of what a backend needs here: no cluster has answered it. undefined from the first answer on,
   * also where that was that the scheduler is missing, or where the cluster falls silent later.
   */
  unseen(name: string): string | undefined {
    if (this.#seen.has(name)) return undefined;
    const readiness = this.readiness(name);
    return readiness.state === 'failed'
      ? `backend ${name} could not look at the cluster yet: ${readiness.reason}`
      : `backend ${name} has not looked at the cluster yet`;
  }

  /** The kinds that a backend keeps, as it said after its last `init` that went well. */
  owned(name: string): readonly Resource[] {
    return this.#owned.get(name) ?? [];
  }

  /**
   * Asks one enabled backend to look at the cluster, and keeps the answer. Never throws: a backend that cannot work
   * here is not ready, and the others are none the worse.
   * @param ask calls what it is given with a context, and may give up on it
   */
  async init(
    name: string,
    ask: (init: (context: InitContext) => Promise<BackendFacts>) => Promise<BackendFacts>,
  ): Promise<Readiness> {
    const backend = this.#byName.get(name)?.backend;
    if (backend === undefined) return NOT_ASKED;
    let readiness: Readiness;
    const look = new ObservedInit(backend);
    try {
      const facts = checkedFacts(await ask((context) => look.at(context)));
      this.#owned.set(name, checkedKinds(backend.owns?.()));
      readiness = { state: 'ready', facts };
    } catch (thrown) {
      readiness = { state: 'failed', reason: messageOf(thrown) };
    }
    if (look.answered) this.#seen.add(name);
    // One that runs elsewhere says only there which scheduler it is for.
    const hosted = hostedIn(backend);
    if (hosted?.schedulerName !== undefined) this.#knowScheduler({ backend, notice: undefined, hosted });
    this.#readiness.set(name, readiness);
    return readiness;
  }
}

const notEnabled = (name: string, enabled: readonly string[]): MusterError =>
  new MusterError(
    'BACKEND_UNSUPPORTED',
    `the default scheduler "${name}" is not enabled (enabled: ${enabled.join(', ')})`,
    'add a profile for it, or choose one of the enabled ones',
  );

function unsupported(name: string, factories: readonly BackendFactory[]): MusterError {
  const { names } = supportedSchedulers(factories);
  return new MusterError(
    'BACKEND_UNSUPPORTED',
    `unsupported scheduler "${name}" (supported: ${names.join(', ')})`,
    'use one of the supported names in schedulerName or scheduler.profiles',
  );
}
