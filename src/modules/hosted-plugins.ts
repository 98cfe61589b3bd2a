import { messageOf, MusterError } from '../errors.ts';
import type { Assigner } from '../fleet/assign/plugin.ts';
import { builtInAssigners, strategiesOf, type Strategies } from '../fleet/assign/strategies.ts';
import { askedAssigner } from '../fleet/assign/with-answers.ts';
import { MODULE_LIMITS, type ModuleLimits } from './limits.ts';
import { readModule } from './module-file.ts';
import type { ModuleObserver } from './module-keeper.ts';
import { ModulePlugin, type PluginEntry } from './module-plugin.ts';

interface Seat {
  readonly plugin: ModulePlugin;
  readonly assigner: Assigner;
  /** Why it does not run; undefined: it does. */
  why: string | undefined;
  /** When it begins again. */
  timer: NodeJS.Timeout | undefined;
}

/** Where it is not its process that failed, such as a file that is gone (ms). */
const LOOK_AGAIN_MS = 5_000;

/**
 * The strategies that come with Muster, and those of modules, each in a process of its own. One that ends begins again by
 * itself; while it rests its strategies are known, and answer with the reason.
 */
export class HostedPlugins implements Strategies {
  readonly #seats: readonly Seat[];
  #now: Strategies;

  private constructor(seats: readonly Seat[]) {
    this.#seats = seats;
    this.#now = strategiesOf(builtInAssigners);
  }

  /**
   * Begins all of them. What is wrong with a file, and a strategy that is claimed twice, is a person's to mend and told at
   * once; one that does not load keeps nobody else from starting.
   * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY, STRATEGY_INVALID
   */
  static async begin(
    entries: readonly PluginEntry[],
    observer: ModuleObserver,
    limits: ModuleLimits = MODULE_LIMITS,
  ): Promise<HostedPlugins> {
    for (const { source } of entries) await readModule(source);
    const plugins = new HostedPlugins(
      entries.map((entry) => {
        const plugin = new ModulePlugin(entry, observer, limits);
        return { plugin, assigner: askedAssigner(plugin), why: undefined, timer: undefined };
      }),
    );
    await Promise.all(plugins.#seats.map((seat) => plugins.#begin(seat)));
    try {
      plugins.#now = strategiesOf(plugins.#assigners(), plugins.#reasons());
    } catch (thrown) {
      plugins.stop();
      throw thrown;
    }
    for (const seat of plugins.#seats) {
      seat.plugin.whenEnded((againInMs) => plugins.#later(seat, againInMs));
      if (seat.why !== undefined) plugins.#later(seat, seat.plugin.restsMs);
    }
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

  stop(): void {
    for (const { plugin, timer } of this.#seats) {
      clearTimeout(timer);
      plugin.stop();
    }
  }

  async #begin(seat: Seat): Promise<void> {
    try {
      await seat.plugin.begun();
      seat.why = undefined;
    } catch (thrown) {
      seat.why = messageOf(thrown);
    }
  }

  #later(seat: Seat, againInMs: number): void {
    clearTimeout(seat.timer);
    seat.timer = setTimeout(() => {
      seat.timer = undefined;
      void this.#again(seat);
    }, againInMs + 1).unref();
  }

  /** Begun anew it may have other strategies than before; where one of them is another's, it has none. */
  async #again(seat: Seat): Promise<void> {
    await this.#begin(seat);
    if (seat.why !== undefined && seat.timer === undefined) this.#later(seat, LOOK_AGAIN_MS);
    try {
      this.#now = strategiesOf(this.#assigners(), this.#reasons());
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      seat.why = thrown.message;
      seat.plugin.stop();
      this.#now = strategiesOf(
        this.#assigners((one) => one !== seat),
        this.#reasons(),
      );
    }
  }

  #assigners(counts: (seat: Seat) => boolean = () => true): Assigner[] {
    return [...builtInAssigners, ...this.#seats.filter(counts).map(({ assigner }) => assigner)];
  }

  #reasons(): string[] {
    return this.#seats.flatMap(({ plugin, why }) =>
      why === undefined ? [] : `plugin ${plugin.name} does not run: ${why}`,
    );
  }
}
