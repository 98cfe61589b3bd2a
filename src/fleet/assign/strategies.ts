import { MusterError } from '../../errors.ts';
import { defaultStrategy } from './default-strategy.ts';
import { gangStrategies } from './gang-strategies.ts';
import type { Assigner } from './plugin.ts';

/** Which plugin answers for a strategy. */
export interface Strategies {
  readonly names: readonly string[];
  pluginOf(strategy: string): Assigner | undefined;
}

/** @throws MusterError STRATEGY_INVALID where two plugins claim a strategy */
export function strategiesOf(plugins: readonly Assigner[]): Strategies {
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
  return { names: [...taken.keys()].sort(), pluginOf: (strategy) => taken.get(strategy) };
}

export const builtInStrategies = (): Strategies => strategiesOf([defaultStrategy, gangStrategies]);
