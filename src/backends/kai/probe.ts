import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { LABEL_MANAGED_BY, MANAGED_BY_MUSTER } from '../../api/names.ts';
import type { ClusterProbe, BackendFacts } from '../cluster.ts';
import { POD_GROUP, POD_GROUP_API_VERSION, POD_GROUP_CRD, TOPOLOGIES_PATH } from './names.ts';
import { isDeepStrictEqual } from 'node:util';
import type { KaiConfig } from './config.ts';

/**
 * Who makes the PodGroups. `external`: Muster, with a sub-group for each group of the gang (KAI 0.15 and later).
 * `podgrouper`: KAI, by the owner of each Pod. KAI before 0.15 ignores the annotation that disables its podgrouper, so
 * Muster and the podgrouper would both write the same annotation of a Pod.
 */
export type Grouping = 'external' | 'podgrouper';

export interface FoundTopology {
  readonly levels: readonly string[];
  /** Whether it has Muster's label. */
  readonly ours: boolean;
}

/** Result of an inspection of the cluster. */
export interface Found {
  readonly grouping: Grouping;
  /** Smallest `spec.minMember` that the CRD accepts: 1 up to 0.17.0, 0 after. */
  readonly rootMinimum: number;
  /** By name; undefined when KAI's Topology is not served. */
  readonly topologies: ReadonlyMap<string, FoundTopology> | undefined;
}

/** Assumption before any inspection: today's KAI, with unknown Topologies. */
export const UNSEEN = { grouping: 'external', rootMinimum: 1 } as const;

/** @throws Error when KAI's PodGroup is not served; ApiError */
export async function probe(cluster: ClusterProbe): Promise<Found> {
  const schema = await cluster.crdSchema(POD_GROUP_CRD, POD_GROUP.version);
  if (schema === undefined) {
    throw new Error(
      `the cluster does not serve PodGroup ${POD_GROUP_API_VERSION} (CRD ${POD_GROUP_CRD}): install KAI Scheduler 0.15 or ` +
        'later, or take kai-scheduler out of scheduler.profiles',
    );
  }
  return { ...capabilities(schema), topologies: topologiesIn(await cluster.read(TOPOLOGIES_PATH)) };
}

/** Features of the installed KAI by the fields of its PodGroup, since the CRD has no other sign of KAI's version. */
export function capabilities(schema: JsonObject): Pick<Found, 'grouping' | 'rootMinimum'> {
  const spec = propertiesOf(ownObject(propertiesOf(schema), 'spec'));
  const subGroup = propertiesOf(own(ownObject(spec, 'subGroups'), 'items'));
  const nested = own(spec, 'minSubGroup') !== undefined && own(subGroup, 'minSubGroup') !== undefined;
  const minimum = own(ownObject(spec, 'minMember'), 'minimum');
  return {
    grouping: nested ? 'external' : 'podgrouper',
    rootMinimum: typeof minimum === 'number' ? minimum : UNSEEN.rootMinimum,
  };
}

const propertiesOf = (schema: Json | undefined): JsonObject | undefined => ownObject(schema, 'properties');

function topologiesIn(list: JsonObject | undefined): Found['topologies'] {
  if (list === undefined) return undefined;
  return new Map(
    (ownList(list, 'items') ?? []).map((item) => {
      const metadata = ownObject(item, 'metadata');
      const levels = ownList(ownObject(item, 'spec'), 'levels') ?? [];
      return [
        ownString(metadata, 'name') ?? '',
        {
          levels: levels.flatMap((level) => ownString(level, 'nodeLabel') ?? []),
          ours: ownString(ownObject(metadata, 'labels'), LABEL_MANAGED_BY) === MANAGED_BY_MUSTER,
        },
      ];
    }),
  );
}

/**
 * Facts about the cluster for this configuration.
 * @param found undefined when there is no cluster to inspect
 * @throws Error when KAI is too old for the configuration
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

/** The fault and the way out when a Topology of the configured name belongs to somebody else and has other levels. */
export const inTheWay = (name: string, found: FoundTopology, levels: readonly string[]): string =>
  `Topology ${name} is not Muster's and has the levels ${found.levels.join(', ')}, not those of ` +
  `topologyAwareScheduling.levels (${levels.join(', ')}): delete it, correct the levels, or set config.topologyName to ` +
  'another name';
