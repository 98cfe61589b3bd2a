import type { ContractRange } from '../api/contract-range.ts';
import { own, ownString, type Json } from '../json/json.ts';
import { isLabelValue } from '../k8s/name-syntax.ts';
import { quoted } from '../text/printable.ts';
import { PLUGIN_CONTRACT_RANGE, type Question } from '../fleet/assign/assign-replica-plugin.ts';
import type { AskedPlugin } from '../fleet/assign/with-answers.ts';
import type { Attended } from './attendant.ts';
import { MODULE_LIMITS, type ModuleLimits } from './limits.ts';
import { keptEntry, type ModuleEntry } from './module-entry.ts';
import { ModuleKeeper, type ModuleObserver } from './module-keeper.ts';
import { NotAnswered } from './module-process.ts';

/** More strategies than anybody keeps apart. */
const MOST_STRATEGIES = 64;

/** What a plugin is: said by it once, and held to since. */
interface PluginFacts {
  readonly name: string;
  readonly contractVersion: number;
  readonly strategies: readonly string[];
}

/** Strategies of somebody else's, in a process of their own, which begins again after a while where it has ended. */
export class ModulePlugin implements AskedPlugin {
  readonly name: string;
  /** What keeps it running. */
  readonly attended: Attended;
  readonly #keeper: ModuleKeeper<PluginFacts>;
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
    this.#keeper = new ModuleKeeper(keptEntry('plugin', entry, kept), observer, limits);
    this.attended = this.#keeper;
  }

  /** As it said when it was last loaded; none before that. */
  strategies(): readonly string[] {
    return this.#keeper.facts?.strategies ?? [];
  }

  /** @throws Error with the reason where it does not run, or is given up */
  async ask(question: Question): Promise<Json> {
    const process = await this.#keeper.ready();
    try {
      return await process.call('assignReplica', question, { withinMs: this.#answerMs });
    } catch (thrown) {
      // One that is late is so for the next one, too, and whoever waits for it keeps others waiting.
      if (thrown instanceof NotAnswered) process.end(thrown.message);
      throw thrown;
    }
  }
}

function factsOf(said: Json): PluginFacts {
  // One that says nothing of a version was written when there was only the first.
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
