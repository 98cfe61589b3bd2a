import { own, ownString, type Json, type JsonObject } from '../api/json.ts';
import { quoted } from '../api/printable.ts';
import { MusterError } from '../errors.ts';
import type { Question } from '../fleet/assign/assign-replica-plugin.ts';
import type { AskedPlugin } from '../fleet/assign/with-answers.ts';
import { MODULE_LIMITS, type ModuleLimits } from './limits.ts';
import type { LoadPluginGiven } from './messages.ts';
import type { ModuleSource } from './module-file.ts';
import { ModuleKeeper, type ModuleObserver } from './module-keeper.ts';
import { NotAnswered } from './module-process.ts';

/** An entry of `fleet.assigner.plugins`. */
export interface PluginEntry {
  readonly name: string;
  readonly source: ModuleSource;
  readonly config: JsonObject;
}

/** More strategies than anybody keeps apart. */
const MOST_STRATEGIES = 64;
const STRATEGY = /^[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;

/** Strategies of somebody else's, in a process of their own, which begins again after a while where it has ended. */
export class ModulePlugin implements AskedPlugin {
  readonly name: string;
  readonly #keeper: ModuleKeeper<readonly string[]>;
  readonly #answerMs: number;

  constructor(entry: PluginEntry, observer: ModuleObserver, limits: ModuleLimits = MODULE_LIMITS) {
    const { name, source, config } = entry;
    this.name = name;
    this.#answerMs = limits.answerMs;
    this.#keeper = new ModuleKeeper(
      {
        what: 'plugin',
        name,
        source,
        load: (file) => {
          const given: LoadPluginGiven = { file, field: source.field, config };
          return { operation: 'loadPlugin', given };
        },
        factsOf: (said) => strategiesIn(said, entry),
      },
      observer,
      limits,
    );
  }

  /** As it said when it was last loaded; none before that. */
  strategies(): readonly string[] {
    return this.#keeper.facts ?? [];
  }

  /** @throws Error with the reason where it does not run, or is given up */
  async ask(question: Question): Promise<Json> {
    const process = await this.begun();
    try {
      return await process.call('assignReplica', question, { withinMs: this.#answerMs });
    } catch (thrown) {
      // One that is late is so for the next one, too, and whoever waits for it keeps others waiting.
      if (thrown instanceof NotAnswered) process.end(thrown.message);
      throw thrown;
    }
  }

  /** The process, which is started where there is none. @throws Error with the reason why there is none */
  async begun(): ReturnType<ModuleKeeper<readonly string[]>['begun']> {
    const process = await this.#keeper.begun();
    this.#keeper.looked();
    return process;
  }

  /** Hears that it ended by itself, and after how many milliseconds it may begin again. */
  whenEnded(ended: (againInMs: number) => void): void {
    this.#keeper.tell({ ended: () => ended(this.#keeper.restsMs), said: () => undefined });
  }

  get restsMs(): number {
    return this.#keeper.restsMs;
  }

  stop(): void {
    this.#keeper.stop();
  }
}

function strategiesIn(said: Json, { name, source: { module, field } }: PluginEntry): readonly string[] {
  const found = ownString(said, 'name') ?? '';
  if (found !== name)
    throw new MusterError(
      'BACKEND_MODULE_INVALID',
      `${field}: ${module} exports the plugin ${quoted(found)}, and its entry is called ${quoted(name)}`,
      `call the entry ${quoted(found)}, or name the module of ${quoted(name)}`,
    );
  const strategies = own(said, 'strategies');
  if (!Array.isArray(strategies) || strategies.length === 0 || strategies.length > MOST_STRATEGIES)
    throw new Error(`strategies() must return a list of 1 to ${MOST_STRATEGIES} names`);
  for (const one of strategies as readonly Json[])
    if (typeof one !== 'string' || !STRATEGY.test(one))
      throw new Error(
        `strategies() names ${quoted(one)}: a name has at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends`,
      );
  return strategies as readonly string[];
}
