import { MusterError } from '../errors.ts';
import type { Assigner } from '../fleet/assign/plugin.ts';
import { builtInAssigners, strategiesOf, type Strategies } from '../fleet/assign/strategies.ts';
import { askedAssigner } from '../fleet/assign/with-answers.ts';
import { Attendant } from './attendant.ts';
import { MODULE_LIMITS, type ModuleLimits } from './limits.ts';
import { readModule } from './module-file.ts';
import type { ModuleObserver } from './module-keeper.ts';
import type { ModuleEntry } from './module-entry.ts';
import { ModulePlugin } from './module-plugin.ts';

interface Seat {
  readonly name: string;
  readonly assigner: Assigner;
  readonly attendant: Attendant;
}

/**
 * The strategies that come with Muster, and those of modules, each in a process of its own. One that ends begins again by
 * itself; while it rests its strategies are known, and answer with the reason.
 */
export class HostedPlugins implements Strategies {
  readonly #seats: readonly Seat[];
  /** Those that claimed what is another's: for good. */
  readonly #dismissed = new Set<Seat>();
  #now: Strategies;

  private constructor(plugins: readonly ModulePlugin[]) {
    this.#seats = plugins.map((plugin): Seat => {
      const seat: Seat = {
        name: plugin.name,
        assigner: askedAssigner(plugin),
        attendant: new Attendant(plugin.attended, () => this.#begunAgain(seat)),
      };
      return seat;
    });
    this.#now = strategiesOf(builtInAssigners);
  }

  /**
   * Begins all of them. What is wrong with a file, and a strategy that is claimed twice, is a person's to mend and told at
   * once; one that does not load keeps nobody else from starting.
   * @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY, STRATEGY_INVALID
   */
  static async begin(
    entries: readonly ModuleEntry[],
    observer: ModuleObserver,
    limits: ModuleLimits = MODULE_LIMITS,
  ): Promise<HostedPlugins> {
    for (const { source } of entries) await readModule(source);
    const plugins = new HostedPlugins(entries.map((entry) => new ModulePlugin(entry, observer, limits)));
    await Promise.all(plugins.#seats.map(({ attendant }) => attendant.begin()));
    try {
      plugins.#now = strategiesOf(plugins.#assigners(), plugins.#reasons());
    } catch (thrown) {
      plugins.stop();
      throw thrown;
    }
    for (const { attendant } of plugins.#seats) attendant.attend();
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
    for (const { attendant } of this.#seats) attendant.stop();
  }

  /** Begun anew it may have other strategies than before; where one of them is another's, it has none. */
  #begunAgain(seat: Seat): void {
    try {
      this.#now = strategiesOf(this.#assigners(), this.#reasons());
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      this.#dismissed.add(seat);
      seat.attendant.dismiss(thrown.message);
      this.#now = strategiesOf(this.#assigners(), this.#reasons());
    }
  }

  #assigners(): Assigner[] {
    const there = this.#seats.filter((seat) => !this.#dismissed.has(seat));
    return [...builtInAssigners, ...there.map(({ assigner }) => assigner)];
  }

  #reasons(): string[] {
    return this.#seats.flatMap(({ name, attendant: { why } }) =>
      why === undefined ? [] : `plugin ${name} does not run: ${why}`,
    );
  }
}
