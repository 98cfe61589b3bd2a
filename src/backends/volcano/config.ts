import { isObject, own, type JsonObject } from '../../json/json.ts';
import { isDnsSubdomain, isLabelKey } from '../../k8s/name-syntax.ts';
import { quoted } from '../../text/printable.ts';
import type { TopologyLevels } from '../../gang/rules/check-topology.ts';
import type { BackendSettings } from '../backend.ts';
import {
  ProfileConfigError,
  readProfileConfig,
  type ProfileConfigFault,
  type ProfileSettings,
} from '../profile-config.ts';
import type { PackConstraint } from '../../api/pod-gang.ts';

/** `scheduler.profiles[].config` of the profile `volcano`. */
export const volcanoSettings = {
  queue: {
    type: 'string',
    description:
      'Queue of gangs that name none. Unset: the queue is left out, so that the default of the Namespace (its annotation `scheduling.volcano.sh/queue-name`) or else the queue `default` applies.',
    check: (queue) =>
      isDnsSubdomain(queue) ? undefined : 'must be a lower-case DNS name of at most 253 characters',
  },
  tiers: {
    type: 'object',
    description:
      'Which tier of the HyperNodes a node label key stands for: `{<key>: {name: <tier name>}}` or `{<key>: {tier: <number>}}`. Volcano knows no node labels, so without an entry a topology constraint is refused.',
  },
  minResources: {
    type: 'boolean',
    default: false,
    description:
      'Write `spec.minResources` from the annotation `muster.dev/min-resources` of a gang, so that it waits in its queue until that is free. Only until a Pod of the gang is bound: past that Volcano would ask for all of it a second time.',
  },
} as const satisfies ProfileSettings;

/** A tier of Volcano's HyperNodes, by its name or by its number, 0 and up. */
export type Tier = { readonly name: string } | { readonly tier: number };

export interface VolcanoConfig {
  readonly queue: string | undefined;
  /** Tiers by node label key. */
  readonly tiers: ReadonlyMap<string, Tier>;
  readonly minResources: boolean;
}

/** @throws Error that names every wrong key */
export function readVolcanoConfig({ config, topology }: BackendSettings): VolcanoConfig {
  const { queue, tiers, minResources } = readProfileConfig(config, volcanoSettings);
  return { queue, tiers: readTiers(tiers ?? {}, topology), minResources };
}

function readTiers(given: JsonObject, levels: TopologyLevels): Map<string, Tier> {
  const tiers = new Map<string, Tier>();
  const wrong: ProfileConfigFault[] = [];
  for (const [key, value] of Object.entries(given)) {
    const tier = readTier(value);
    const wrongly = (message: string): void =>
      void wrong.push({ field: `config.tiers[${quoted(key)}]`, message });
    if (!isLabelKey(key)) wrongly('must be a node label key');
    else if (levels.enabled && !levels.keys.includes(key)) {
      wrongly(`is no level of topologyAwareScheduling (levels: ${levels.keys.join(', ') || 'none'})`);
    } else if (tier === undefined) {
      wrongly('must be {name: <tier name>} or {tier: <whole number from 0>}, one of the two');
    } else tiers.set(key, tier);
  }
  if (wrong.length > 0) throw new ProfileConfigError(wrong);
  return tiers;
}

function readTier(value: unknown): Tier | undefined {
  if (!isObject(value) || Object.keys(value).length !== 1) return undefined;
  const [name, tier] = [own(value, 'name'), own(value, 'tier')];
  if (typeof name === 'string' && name !== '' && name.length <= 253) return { name };
  return typeof tier === 'number' && Number.isInteger(tier) && tier >= 0 ? { tier } : undefined;
}

/** The level that is written: the required one, else the preferred one, since Volcano accepts one level only. */
export const decidingLevel = (pack: PackConstraint | undefined): string | undefined =>
  pack?.required || pack?.preferred || undefined;

/**
 * `networkTopology`: the widest tier that the Pods may spread over. The mode is always written, since the CRD's default is
 * hard.
 */
export function networkTopology(
  pack: PackConstraint | undefined,
  tiers: VolcanoConfig['tiers'],
): JsonObject | undefined {
  const tier = tiers.get(decidingLevel(pack) ?? '');
  if (tier === undefined) return undefined;
  const mode = pack?.required ? 'hard' : 'soft';
  return 'name' in tier ? { mode, highestTierName: tier.name } : { mode, highestTierAllowed: tier.tier };
}
