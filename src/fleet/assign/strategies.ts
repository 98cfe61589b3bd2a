import { MusterError } from '../../errors.ts';
import { defaultStrategy } from './default-strategy.ts';
import { gangStrategies } from './gang-strategies.ts';
import type { Assigner } from './assigner.ts';

/** The strategies and their plugins. */
export interface Strategies {
  readonly names: readonly string[];
  /** Why further strategies may exist: a sentence for each plugin that does not run. */
  readonly missing: readonly string[];
  pluginOf(strategy: string): Assigner | undefined;
}

/** @throws MusterError STRATEGY_INVALID when two plugins have a strategy of the same name */
export function strategiesOf(plugins: readonly Assigner[], missing: readonly string[] = []): Strategies {
  const claims = plugins.flatMap((plugin) => plugin.strategies().map((name) => ({ name, plugin })));
  const taken = new Map<string, Assigner>();
  const twice: string[] = [];
  for (const { name, plugin } of claims) {
    const other = taken.get(name);
    if (other === undefined) taken.set(name, plugin);
    else twice.push(`"${name}" by ${other.name} and ${plugin.name}`);
  }
  if (twice.length > 0)
    throw new MusterError(
      'STRATEGY_INVALID',
      `strategies are claimed twice: ${twice.join(', ')}`,
      'rename one of each, or leave one of the plugins out',
    );
  return { names: [...taken.keys()].sort(), missing, pluginOf: (strategy) => taken.get(strategy) };
}

/** The assigners of Muster itself. */
export const builtInAssigners: readonly Assigner[] = [defaultStrategy, gangStrategies];

export const builtInStrategies = (): Strategies => strategiesOf(builtInAssigners);
