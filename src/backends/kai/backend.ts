import type { PodGang } from '../../api/pod-gang.ts';
import { asksForTopology } from '../../gang/rules/check-topology.ts';
import type { Membership } from '../../gang/membership.ts';
import {
  BACKEND_CONTRACT_VERSION,
  definitionRight,
  type Backend,
  type BackendFactory,
  type PatchSurface,
  type PodPatch,
  type PodReader,
} from '../backend.ts';
import {
  KEEP_OBJECTS,
  type BackendFacts,
  type ClusterSyncContext,
  type InitContext,
  type SyncContext,
} from '../cluster.ts';
import { raisedMinimums, newlyIgnored } from '../shared-warnings.ts';
import { kaiSettings, readKaiConfig, type KaiConfig } from './config.ts';
import { explainKai } from './explain.ts';
import {
  ANNOTATION_POD_GANG,
  ANNOTATION_POD_GROUP,
  ANNOTATION_POD_GROUP_NAME,
  ANNOTATION_SKIP_PODGROUPER,
  KEY_QUEUE,
  LABEL_SUBGROUP_NAME,
  KAI_NAME,
  POD_GROUP,
  POD_GROUP_CRD,
  podGroupName,
  TOPOLOGY,
  kaiQueueOf,
} from './names.ts';
import { readiness, probe, UNSEEN, type Found } from './probe.ts';
import { syncPodGroup } from './objects.ts';
import { heeded, keepTopology } from './topology.ts';
import { KAI_PREEMPTS, validateForKai } from './validate.ts';

const TOPOLOGY_OFF = `${KAI_NAME} is told no topology constraints: topologyAwareScheduling is not enabled`;

/** NVIDIA's KAI scheduler: one PodGroup for a gang, with a sub-group for each of its groups. */
export const kai: BackendFactory = {
  name: KAI_NAME,
  aliases: { 'grove-scheduler': KAI_NAME },
  settings: kaiSettings,
  rights: [
    {
      group: POD_GROUP.group,
      resources: [POD_GROUP.plural],
      verbs: KEEP_OBJECTS,
      schedulersFields: ['markUnschedulable', 'schedulingBackoff'],
      why: 'the PodGroup of a gang',
    },
    definitionRight(POD_GROUP_CRD),
    {
      group: TOPOLOGY.group,
      resources: [TOPOLOGY.plural],
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
      why: 'the Topology of the configured levels, where it is to keep one',
    },
  ],
  countedBy: {
    labels: [LABEL_SUBGROUP_NAME],
    annotations: [ANNOTATION_POD_GROUP_NAME],
    groupNamedBy: [ANNOTATION_POD_GROUP_NAME],
  },
  traces: { deployment: /(^kai[^/]*\/|\/kai-)(.*-)?scheduler(-[a-z0-9]+)*$/ },
  conformance: {
    'queue by config': { config: { queue: 'research' } },
    'queue by label': {
      topology: { enabled: true, keys: ['zone', 'rack', 'host'] },
      gang: { labels: { [KEY_QUEUE]: 'research' } },
    },
  },
  create: (settings): Backend => new KaiBackend(readKaiConfig(settings)),
};

class KaiBackend implements Backend {
  readonly contractVersion = BACKEND_CONTRACT_VERSION;
  readonly name = KAI_NAME;
  readonly schedulerName: string;
  readonly patchSurface: PatchSurface = {
    schedulerName: true,
    annotations: [
      ANNOTATION_POD_GANG,
      ANNOTATION_POD_GROUP,
      ANNOTATION_SKIP_PODGROUPER,
      ANNOTATION_POD_GROUP_NAME,
    ],
    labels: [LABEL_SUBGROUP_NAME, KEY_QUEUE],
  };
  readonly #config: KaiConfig;
  /** Replaced as a whole after each inspection, so that no reader sees a partial result. */
  #found: Found | undefined;

  constructor(config: KaiConfig) {
    this.#config = config;
    this.schedulerName = config.schedulerName;
  }

  async init({ cluster }: InitContext): Promise<BackendFacts> {
    const found = cluster && (await probe(cluster));
    const facts = readiness(this.#config, found);
    this.#found = found;
    return facts;
  }

  preparePod(pod: PodReader, gang: Membership, patch: PodPatch): void {
    patch.setSchedulerName(this.schedulerName, 'the gang is served by KAI');
    patch.annotate(ANNOTATION_POD_GANG, gang.gang, 'its gang, for people');
    patch.annotate(ANNOTATION_POD_GROUP, gang.group, 'its group, for people');
    if (this.#grouping === 'podgrouper') {
      const { queue } = this.#config;
      if (queue !== undefined && pod.label(KEY_QUEUE) === undefined) {
        patch.label(KEY_QUEUE, queue, 'an older KAI reads the queue from the Pod');
      }
      return;
    }
    const group = podGroupName(gang.namespace, gang.gang);
    patch.annotate(ANNOTATION_SKIP_PODGROUPER, 'true', 'KAI must not group it by its owner');
    // An annotation that the Pod already has is overwritten: a Pod joins only its own gang.
    patch.annotate(ANNOTATION_POD_GROUP_NAME, group, 'the PodGroup it joins, unique in the cluster');
    patch.label(LABEL_SUBGROUP_NAME, gang.group, 'the sub-group it counts for');
  }

  validatePodGang(gang: PodGang) {
    const heard = this.#heeded(gang);
    const { faults, warnings } = validateForKai(heard, this.#config, this.#found);
    const unheard = heard !== gang && asksForTopology(gang);
    return { faults, warnings: unheard ? [...warnings, TOPOLOGY_OFF] : warnings };
  }

  warnOfUpdate(before: PodGang, after: PodGang): string[] {
    const [from, to] = [before, after].map((gang) => kaiQueueOf(gang, this.#config.queue));
    const warnings: string[] = [];
    if (from !== undefined && to !== undefined && from !== to) {
      warnings.push(
        `${KAI_NAME}: the queue goes from ${from} to ${to} only if no Pod of the gang is bound; a gang that has started stays in ${from}`,
      );
    }
    const raised = raisedMinimums(before, after);
    if (raised !== undefined) {
      warnings.push(
        `${KAI_NAME} evicts all of a started gang that stays below a minimum for longer than its staleness grace period (60 s unless KAI is told otherwise): ${raised}; create the Pods first, then raise minReplicas`,
      );
    }
    warnings.push(...newlyIgnored(before, after, KAI_PREEMPTS));
    return warnings;
  }

  async syncPodGang(context: SyncContext, gang: PodGang): Promise<void> {
    if (this.#grouping === 'podgrouper') return;
    const rootMinimum = this.#found?.rootMinimum ?? UNSEEN.rootMinimum;
    await syncPodGroup(context, this.#heeded(gang), this.#config, rootMinimum);
  }

  /** Deletes nothing: the garbage collector deletes the PodGroup by its owner reference to the gang. */
  onPodGangDelete(): Promise<void> {
    return Promise.resolve();
  }

  owns() {
    return this.#grouping === 'podgrouper' ? [] : [POD_GROUP];
  }

  async syncCluster(context: ClusterSyncContext): Promise<void> {
    const { topologyName, keptLevels } = this.#config;
    const topologies = this.#found?.topologies;
    if (topologyName === undefined || keptLevels === undefined || topologies === undefined) return;
    await keepTopology(context, topologyName, keptLevels, topologies.get(topologyName));
  }

  /** KAI counts each sub-group separately, so the order in which it sees a group's Pods does not matter. */
  releaseOrder() {
    return 'all-at-once' as const;
  }

  preemptsGangs() {
    return true;
  }

  explain(objects: Parameters<typeof explainKai>[0]) {
    return explainKai(objects);
  }

  #heeded(gang: PodGang) {
    return heeded(gang, this.#config.topologyEnabled);
  }

  get #grouping() {
    return this.#found?.grouping ?? UNSEEN.grouping;
  }
}
