import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { LABEL_MANAGED_BY, MUSTER_PREFIX } from '../../api/names.ts';
import type { GroupConfig, PodGang } from '../../api/pod-gang.ts';
import { totalMinimum } from '../../gang/rules/check-spec.ts';
import type { OwnedObject, SyncContext } from '../cluster.ts';
import {
  KEY_QUEUE,
  LABEL_NODE_POOL,
  LABEL_PREEMPTIBILITY,
  POD_GROUP,
  podGroupNameOf,
  KAI_NAME,
  kaiQueueOf,
} from './names.ts';
import { constraintOn, topologyNameOf } from './topology.ts';
import { refuseFaults } from '../gang-objects.ts';
import { faultsForKai, type KaiDefaults } from './validate.ts';

/** What a PodGroup depends on beside its gang. */
export interface KaiPodGroupSettings {
  readonly queue: string;
  /** The Topology that the levels belong to; undefined only where the gang names no level. */
  readonly topology: string | undefined;
  /** The least that the CRD takes as `spec.minMember`. */
  readonly rootMinimum: number;
  /** The PodGroup as it is; undefined while there is none. */
  readonly live: JsonObject | undefined;
  /** A Pod of the gang is bound, so the queue is settled. */
  readonly bound: boolean;
}

/** KAI's once the PodGroup exists: Muster says what the gang says at creation, then whatever is there. */
const RUNTIME_LABELS: readonly string[] = [LABEL_NODE_POOL, KEY_QUEUE];
/** KAI writes these, and one of them starts the clock of an eviction: a copy from elsewhere would be a lie. */
const RUNTIME_ANNOTATIONS: readonly string[] = [
  'kai.scheduler/last-start-timestamp',
  'kai.scheduler/stale-podgroup-timestamp',
];
/** What others keep their own record of an object in: on a copy it would speak of the wrong one. */
const RECORDS = ['kubectl.kubernetes.io/', MUSTER_PREFIX];

/**
 * A gang as KAI knows it: one sub-group for each group, beneath one for each group configuration. With sub-groups KAI
 * goes by their minimums and does not look at `spec.minMember`, which is for people then.
 *
 * What is not named here is KAI's: `markUnschedulable`, `schedulingBackoff`, its annotations.
 */
function kaiPodGroupOf(gang: PodGang, settings: KaiPodGroupSettings): OwnedObject {
  const { queue, topology, rootMinimum, bound } = settings;
  const { groups, groupConfigs, pack, priorityClassName } = gang.spec;
  const sum = totalMinimum(gang);
  const preemptibility = gang.labels.get(LABEL_PREEMPTIBILITY);
  const constraint = constraintOn(topology, pack);
  const parents = groupConfigs.filter((config) => config.podGroupNames.length > 0);
  const parentOf = new Map(
    parents.flatMap(({ name, podGroupNames }) => podGroupNames.map((it) => [it, name])),
  );
  return {
    resource: POD_GROUP,
    name: podGroupNameOf(gang),
    labels: labelsOf(gang, settings),
    annotations: carried(gang.annotations, RUNTIME_ANNOTATIONS),
    spec: {
      queue,
      // 0 says "no gang", and only a later CRD takes it.
      ...(sum >= rootMinimum && { minMember: sum }),
      ...(priorityClassName && { priorityClassName }),
      ...(preemptibility && { preemptibility }),
      ...(constraint && { topologyConstraint: constraint }),
      subGroups: [
        ...parents.map((config) => parentSubGroup(config, topology)),
        ...groups.map(({ name, minReplicas, pack: groupPack }) => {
          const parent = parentOf.get(name);
          const its = constraintOn(topology, groupPack);
          return {
            name,
            minMember: minReplicas,
            ...(parent !== undefined && { parent }),
            ...(its && { topologyConstraint: its }),
          };
        }),
      ],
    },
    // KAI takes another queue while nothing is bound; after that the gang is counted where it started.
    writtenOnce: bound ? ['queue'] : [],
  };
}

/**
 * `minSubGroup` is always all children. A smaller number is not what it seems: KAI tries children in the order of
 * their names without a second choice, binds other groups without them, and evicts the gang as stale after a minute.
 * `minMember` is never given beside it, not even as 0: KAI refuses that.
 */
function parentSubGroup(
  { name, podGroupNames, pack }: GroupConfig,
  topology: string | undefined,
): JsonObject {
  const constraint = constraintOn(topology, pack);
  return { name, minSubGroup: podGroupNames.length, ...(constraint && { topologyConstraint: constraint }) };
}

const carried = (entries: ReadonlyMap<string, string>, without: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    [...entries].filter(
      ([key]) => !without.includes(key) && !RECORDS.some((prefix) => key.startsWith(prefix)),
    ),
  );

function labelsOf(gang: PodGang, { live, bound, queue }: KaiPodGroupSettings): Record<string, string> {
  const labels = carried(gang.labels, [LABEL_MANAGED_BY, ...(live === undefined ? [] : RUNTIME_LABELS)]);
  const present = ownObject(own(live, 'metadata'), 'labels');
  for (const key of RUNTIME_LABELS) {
    // Named as it is: what is named no longer would be taken off.
    const value = ownString(present, key);
    if (value !== undefined) labels[key] = value;
  }
  // In step with the queue it moves with the queue; where somebody has put it out of step it is theirs.
  const moves = !bound && labels[KEY_QUEUE] === ownString(own(live, 'spec'), 'queue');
  if (moves && labels[KEY_QUEUE] !== undefined) labels[KEY_QUEUE] = queue;
  return labels;
}

/**
 * Makes the PodGroup of a gang what the gang says.
 * @throws Error where the gang cannot be a PodGroup: it came past admission (Grove's gangs do), or the configuration
 *   has changed since
 */
export async function syncPodGroup(
  context: SyncContext,
  gang: PodGang,
  defaults: KaiDefaults,
  rootMinimum: number,
): Promise<void> {
  const name = podGroupNameOf(gang);
  const live = context
    .owned(POD_GROUP)
    .find((object) => ownString(ownObject(object, 'metadata'), 'name') === name);
  // A gang that has its queue keeps it where the configuration no longer names one.
  const was = queueIn(live);
  const queue = kaiQueueOf(gang, defaults.queue ?? was);
  refuseFaults(faultsForKai(gang, { ...defaults, queue }));
  const bound = context.pods.filter((pod) => pod.nodeName !== '').length;
  await context.apply(
    kaiPodGroupOf(gang, {
      // None is a fault, which was refused.
      queue: queue ?? '',
      topology: topologyNameOf(gang, defaults.topologyName),
      rootMinimum,
      live,
      bound: bound > 0,
    }),
  );
  if (bound > 0 && was !== undefined && was !== queue) {
    context.warn(
      `${KAI_NAME}: the gang stays in queue ${was}, ${bound} of its Pods are bound; to move it to ${queue ?? ''} delete the gang and create it again`,
    );
  }
}

const queueIn = (live: JsonObject | undefined): string | undefined =>
  ownString(own(live, 'spec'), 'queue') || undefined;
