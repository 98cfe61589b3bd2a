import type { JsonObject } from '../../json/json.ts';
import type { PackConstraint } from '../../api/pod-gang.ts';
import type { VolcanoConfig } from './config.ts';

/** The level that decides: the required one where there is one, since Volcano takes one level only. */
export const decidingLevel = (pack: PackConstraint | undefined): string | undefined =>
  pack?.required || pack?.preferred || undefined;

/** `networkTopology`: the widest tier that the Pods may spread over. Its mode is said, the CRD's default is hard. */
export function networkTopology(
  pack: PackConstraint | undefined,
  tiers: VolcanoConfig['tiers'],
): JsonObject | undefined {
  const tier = tiers.get(decidingLevel(pack) ?? '');
  if (tier === undefined) return undefined;
  const mode = pack?.required ? 'hard' : 'soft';
  return 'name' in tier ? { mode, highestTierName: tier.name } : { mode, highestTierAllowed: tier.tier };
}
