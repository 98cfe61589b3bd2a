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

/** Input of a PodGroup beside its gang. */
export interface KaiPodGroupSettings {
  readonly queue: string;
  /** Name of the Topology of the gang's levels; undefined only when the gang names no level. */
  readonly topology: string | undefined;
  /** Smallest `spec.minMember` that the CRD accepts. */
  readonly rootMinimum: number;
  /** The stored PodGroup; undefined when there is none. */
  readonly live: JsonObject | undefined;
  /** Whether a Pod of the gang is bound, after which the queue never changes. */
  readonly bound: boolean;
}

/**
 * Labels that belong to KAI once the PodGroup exists: Muster writes the gang's values at creation, and keeps the stored
 * values afterwards.
 */
const RUNTIME_LABELS: readonly string[] = [LABEL_NODE_POOL, KEY_QUEUE];
/**
 * Annotations that only KAI writes. One of them starts the countdown to an eviction, so a copy from the gang would be false.
 */
const RUNTIME_ANNOTATIONS: readonly string[] = [
  'kai.scheduler/last-start-timestamp',
  'kai.scheduler/stale-podgroup-timestamp',
];
/** Prefixes of annotations in which tools record the state of an object. A copy would describe the wrong object. */
const RECORDS = ['kubectl.kubernetes.io/', MUSTER_PREFIX];

/**
 * The PodGroup of a gang: one sub-group for each group, below a parent sub-group for each group configuration. With
 * sub-groups KAI checks their minimums and ignores `spec.minMember`, which then only informs people.
 *
 * Fields that are not listed here belong to KAI: `markUnschedulable`, `schedulingBackoff`, its annotations.
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
      // 0 means "no gang", and only newer CRDs accept it.
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
    // KAI accepts another queue while nothing is bound. After that the gang stays counted in its first queue.
    writtenOnce: bound ? ['queue'] : [],
  };
}

/**
 * `minSubGroup` is always the number of all children. With a smaller number KAI tries children in the order of their names
 * without a second choice, binds other groups without them, and evicts the gang as stale after a minute. `minMember` is
 * never set beside it, not even to 0, since KAI rejects that.
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
    // The stored value is listed again, because a label that is no longer listed would be removed.
    const value = ownString(present, key);
    if (value !== undefined) labels[key] = value;
  }
  // While the stored label equals the queue in `spec`, it follows a change of the queue. A different value was set by
  // somebody else and stays.
  const moves = !bound && labels[KEY_QUEUE] === ownString(own(live, 'spec'), 'queue');
  if (moves && labels[KEY_QUEUE] !== undefined) labels[KEY_QUEUE] = queue;
  return labels;
}

/**
 * Brings the PodGroup of a gang to its desired state.
 * @throws Error when the gang cannot be a PodGroup: Grove's gangs pass no admission, and the configuration may have changed
 *   since admission
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
  // A gang whose PodGroup has a queue keeps it when the configuration no longer names a default.
  const was = queueIn(live);
  const queue = kaiQueueOf(gang, defaults.queue ?? was);
  refuseFaults(faultsForKai(gang, { ...defaults, queue }));
  const bound = context.pods.filter((pod) => pod.nodeName !== '').length;
  await context.apply(
    kaiPodGroupOf(gang, {
      // Never empty: `refuseFaults` has thrown when there is no queue.
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
