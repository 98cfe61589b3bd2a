import { isDeepStrictEqual } from 'node:util';
import type { BackendFacts } from '../cluster.ts';
import type { KaiConfig } from './config.ts';
import { POD_GROUP_API_VERSION } from './names.ts';
import type { Found } from './probe.ts';
import { inTheWay } from './topology.ts';

/**
 * What a look at the cluster means for this configuration.
 * @param found undefined where there is no cluster to look at
 * @throws Error where KAI is too old for what is asked
 */
export function readiness(config: KaiConfig, found: Found | undefined): BackendFacts {
  const version = POD_GROUP_API_VERSION;
  if (found === undefined) {
    return { version, notices: ['there is no cluster to look at: KAI is taken to be 0.15 or later'] };
  }
  if (found.grouping === 'podgrouper' && config.requireExternalPodGroups) {
    throw new Error(
      `PodGroup ${version} has no minSubGroup, so KAI is older than 0.15 and groups Pods by their owner: upgrade KAI, or ` +
        'set config.requireExternalPodGroups to false to do without its gang',
    );
  }
  return { version, notices: [...oldKai(found), ...topologyNotices(config, found)] };
}

const oldKai = ({ grouping }: Found): string[] =>
  grouping === 'external'
    ? []
    : [
        'KAI is older than 0.15 (PodGroup has no minSubGroup) and groups Pods by their owner: Muster writes no PodGroups, ' +
          'and minReplicas, queue, priority and topology of a PodGang do not reach it',
      ];

function topologyNotices({ topologyName, keptLevels }: KaiConfig, { topologies }: Found): string[] {
  if (topologyName === undefined) return [];
  if (topologies === undefined) {
    return [
      `KAI serves no Topology here: gangs that ask for a topology wait, and Topology ${topologyName} is not kept`,
    ];
  }
  const known = topologies.get(topologyName);
  if (known === undefined)
    return [`there is no Topology ${topologyName} yet: gangs that ask for a topology wait for it`];
  if (keptLevels === undefined || isDeepStrictEqual(known.levels, keptLevels)) return [];
  return [
    known.ours
      ? `Topology ${topologyName} has the levels of an earlier configuration: Muster makes it anew`
      : inTheWay(topologyName, known, keptLevels),
  ];
}
