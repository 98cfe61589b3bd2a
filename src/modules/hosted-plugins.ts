import { MusterError } from '../errors.ts';
import type { Assigner } from '../fleet/assign/assigner.ts';
import { builtInAssigners, strategiesOf, type Strategies } from '../fleet/assign/strategies.ts';
import { remoteAssigner, type RemotePlugin } from '../fleet/assign/plugin-answers.ts';
import { Restarter, type Restartable } from './restarter.ts';
import { MODULE_LIMITS, type ModuleLimits } from './process-limits.ts';
import { readModule } from './module-file.ts';
import { supervisedEntry, ModuleSupervisor, type ModuleObserver, type ModuleEntry } from './supervisor.ts';
import type { ContractRange } from '../api/contract-range.ts';
import { own, ownString, type Json } from '../json/json.ts';
import { isLabelValue } from '../k8s/name-syntax.ts';
import { quoted } from '../text/printable.ts';
import { PLUGIN_CONTRACT_RANGE, type StrategyQuestion } from '../fleet/assign/assign-replica-plugin.ts';
import { NotAnswered } from './module-process.ts';

interface RunningPlugin {
  readonly name: string;
  readonly assigner: Assigner;
  readonly restarter: Restarter;
}

/**
 * The built-in strategies and those of modules, each module in a process of its own. A process that ended is restarted after
 * a back-off; until then its strategies remain known and answer with the reason.
 */
export class HostedPlugins implements Strategies {
  readonly #seats: readonly RunningPlugin[];
  /** Plugins that claimed a strategy of another plugin; they are never restarted. */
  readonly #dismissed = new Set<RunningPlugin>();
  #now: Strategies;

  private constructor(plugins: readonly ModulePlugin[]) {
    this.#seats = plugins.map((plugin): RunningPlugin => {
      const seat: RunningPlugin = {
        name: plugin.name,
        assigner: remoteAssigner(plugin),
        restarter: new Restarter(plugin.restartable, () => this.#begunAgain(seat)),
      };
      return seat;
    });
    this.#now = strategiesOf(builtInAssigners);
  }

  /**
   * Starts all plugins. A faulty file and a strategy that two plugins claim are configuration errors, and thrown. A plugin
   * that does not load prevents no other from starting.
   * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY, STRATEGY_INVALID
   */
  static async begin(
    entries: readonly ModuleEntry[],
    observer: ModuleObserver,
    limits: ModuleLimits = MODULE_LIMITS,
  ): Promise<HostedPlugins> {
    for (const { source } of entries) await readModule(source);
    const plugins = new HostedPlugins(entries.map((entry) => new ModulePlugin(entry, observer, limits)));
    await Promise.all(plugins.#seats.map(({ restarter }) => restarter.begin()));
    try {
      plugins.#now = strategiesOf(plugins.#assigners(), plugins.#reasons());
    } catch (thrown) {
      await plugins.stop();
      throw thrown;
    }
    for (const { restarter } of plugins.#seats) restarter.restartWhenEnded();
    return plugins;
  }

  get names(): readonly string[] {
    return this.#now.names;
  }

  get missing(): readonly string[] {
    return this.#now.missing;
  }

  pluginOf(strategy: string): Assigner | undefined {
    return this.#now.pluginOf(strategy);
  }

  /** @returns once the last output of all modules was passed on */
  async stop(): Promise<void> {
    await Promise.all(this.#seats.map(({ restarter }) => restarter.stop()));
  }

  /**
   * Reads the strategies of a restarted plugin, which may have changed; a plugin that now claims another's strategy is
   * stopped.
   */
  #begunAgain(seat: RunningPlugin): void {
    try {
      this.#now = strategiesOf(this.#assigners(), this.#reasons());
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      this.#dismissed.add(seat);
      seat.restarter.stopFor(thrown.message);
      this.#now = strategiesOf(this.#assigners(), this.#reasons());
    }
  }

  #assigners(): Assigner[] {
    const there = this.#seats.filter((seat) => !this.#dismissed.has(seat));
    return [...builtInAssigners, ...there.map(({ assigner }) => assigner)];
  }

  #reasons(): string[] {
    return this.#seats.flatMap(({ name, restarter: { why } }) =>
      why === undefined ? [] : `plugin ${name} does not run: ${why}`,
    );
  }
}

/** Maximal number of strategies of one plugin. */
const MOST_STRATEGIES = 64;

/** Facts that a plugin states when it is loaded. */
interface PluginFacts {
  readonly name: string;
  readonly contractVersion: number;
  readonly strategies: readonly string[];
}

/** Strategies of a third party's module in a process of its own, which is restarted after a back-off when it has ended. */
export class ModulePlugin implements RemotePlugin {
  readonly name: string;
  /** The supervisor that starts the process. */
  readonly restartable: Restartable;
  readonly #supervisor: ModuleSupervisor<PluginFacts>;
  readonly #answerMs: number;

  constructor(
    entry: ModuleEntry,
    observer: ModuleObserver,
    limits: ModuleLimits = MODULE_LIMITS,
    range: ContractRange = PLUGIN_CONTRACT_RANGE,
  ) {
    this.name = entry.name;
    this.#answerMs = limits.answerMs;
    const kept = { operation: 'loadPlugin', range, factsOf } as const;
    this.#supervisor = new ModuleSupervisor(supervisedEntry('plugin', entry, kept), observer, limits);
    this.restartable = this.#supervisor;
  }

  /** Strategies as of the last load; empty before the first. */
  strategies(): readonly string[] {
    return this.#supervisor.facts?.strategies ?? [];
  }

  /** Asks the plugin. @throws Error with the reason where the process does not run, or does not answer in time */
  async ask(question: StrategyQuestion): Promise<Json> {
    const process = await this.#supervisor.ready();
    try {
      return await process.call('assignReplica', question, { withinMs: this.#answerMs });
    } catch (thrown) {
      // A process that answered late would answer the next question late as well, and delay all others.
      if (thrown instanceof NotAnswered) process.end(thrown.message);
      throw thrown;
    }
  }
}

function factsOf(said: Json): PluginFacts {
  // A plugin without `contractVersion` was written when 1 was the only version.
  const version = own(said, 'contractVersion') ?? 1;
  if (typeof version !== 'number') throw new Error('contractVersion must be a number');
  return {
    name: ownString(said, 'name') ?? '',
    contractVersion: version,
    strategies: strategiesIn(said),
  };
}

function strategiesIn(said: Json): readonly string[] {
  const strategies = own(said, 'strategies');
  if (!Array.isArray(strategies) || strategies.length === 0 || strategies.length > MOST_STRATEGIES)
    throw new Error(`strategies() must return a list of 1 to ${MOST_STRATEGIES} names`);
  for (const one of strategies as readonly Json[])
    if (typeof one !== 'string' || !isLabelValue(one))
      throw new Error(
        `strategies() names ${quoted(one)}: a name has at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends`,
      );
  return strategies as readonly string[];
}
