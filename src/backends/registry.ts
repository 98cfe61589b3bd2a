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

/** The backends of Muster itself. A new one needs a folder here and an entry in this list. */
export const builtInBackends: readonly BackendFactory[] = [native, kai, volcano, coscheduling];

/** Every name that a configuration may use, aliases last: for error messages and completion. */
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

/** Names of the backends whose gangs Muster may preempt for, for the configuration. */
export const withoutGangPreemption = (
  factories: readonly BackendFactory[] = builtInBackends,
): readonly string[] =>
  factories.filter(({ leavesPreemption }) => leavesPreemption === true).map(({ name }) => name);

/** An enabled backend, as found by one of its names. */
export interface Resolved {
  readonly backend: Backend;
  /** Set when the backend was named by a former name: the message for the user. */
  readonly notice: string | undefined;
  /** Set when the backend runs in another process, which admission has to query. */
  readonly hosted?: Hosted | undefined;
}

interface HostedEntry {
  readonly name: string;
  readonly hosted: Hosted;
}

/** A profile of the configuration: a backend's name and its settings. */
export interface BackendProfile {
  readonly name: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface RegistryOptions {
  readonly factories?: readonly BackendFactory[];
  /** `topologyAwareScheduling` of the configuration. Absent: not enabled. */
  readonly topology?: TopologyLevels;
  /** Versions of the backend contract that are supported. */
  readonly contract?: ContractRange;
}

/** The enabled backends. Built once at start; only their readiness changes. */
export class BackendRegistry {
  readonly default: Backend;
  readonly #byName = new Map<string, Resolved>();
  readonly #enabled: readonly string[];
  readonly #hosted: readonly HostedEntry[];
  readonly #readiness = new Map<string, Readiness>();
  /** Names of backends whose `init` was answered by a cluster, or that need no cluster. */
  readonly #seen = new Set<string>();
  readonly #owned = new Map<string, readonly Resource[]>();
  /** Deprecations, a sentence each, shown at start. */
  readonly notices: readonly string[];

  /**
   * @param profiles the enabled backends, each with its own `config`
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
      // The cast is safe: the configuration was read from a file as JSON.
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
    // A scheduler may have another name than its backend. Registering both lets a prepared Pod, which carries only the
    // scheduler's name, resolve to its backend.
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

  /** An enabled backend by its name, a former name, or its scheduler's name. Unknown names never resolve to the default. */
  resolve(name: string): Resolved | undefined {
    return this.#byName.get(name);
  }

  /** Name of an enabled backend in another process that has not declared its scheduler yet; undefined when there is none. */
  get untold(): string | undefined {
    return this.#hosted.find(({ hosted }) => hosted.schedulerName === undefined)?.name;
  }

  /** The enabled backends that run in another process. */
  get hosted(): readonly HostedEntry[] {
    return this.#hosted;
  }

  /** Result of the last `init` of an enabled backend. */
  readiness(name: string): Readiness {
    return this.#readiness.get(name) ?? NOT_ASKED;
  }

  /**
   * Why the needs of a backend in this cluster are unknown: no cluster has answered it yet. undefined from the first answer
   * on, also when that answer was that the scheduler is missing, and when the cluster stops answering later.
   */
  unseen(name: string): string | undefined {
    if (this.#seen.has(name)) return undefined;
    const readiness = this.readiness(name);
    return readiness.state === 'failed'
      ? `backend ${name} could not look at the cluster yet: ${readiness.reason}`
      : `backend ${name} has not looked at the cluster yet`;
  }

  /** Kinds of the backend's objects, as of its last successful `init`. */
  owned(name: string): readonly Resource[] {
    return this.#owned.get(name) ?? [];
  }

  /**
   * Runs `init` of one enabled backend and stores the result. Never throws: a backend that cannot work in this cluster
   * becomes not ready, and other backends are not affected.
   * @param ask calls the function with a context, and may stop waiting for it
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
    // A backend in another process declares its scheduler only after it has started there.
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
